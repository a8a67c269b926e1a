"""Text files that are not UTF-8: cp1252 where it fits, with a warning, and detection on request."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import shoal
from shoal.api.opening import read_table

GERMAN = "Ort;Größe\nKöln;3\nMünchen „West“;4\nDüren – Süd;5\n"


def saved(folder: Path, text: str, encoding: str) -> Path:
    path = folder / f"{encoding}.csv"
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize(
    "text", [GERMAN, "città;età\nForlì;3\nSan Donà;4\n", "año;señal\n1;¿qué?\n2;5 µg/m³, 20 °C\n"]
)
def test_western_text_is_read_as_cp1252_with_a_warning(tmp_path: Path, text: str) -> None:
    path = saved(tmp_path, text, "cp1252")
    with pytest.warns(shoal.ShoalWarning, match=r"not UTF-8. It was read as cp1252.*--encoding"):
        table = read_table(path)
    assert ";".join(table.columns) == text.splitlines()[0]
    assert ";".join(map(str, table.row(0))) == text.splitlines()[1]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN.replace("„West“", "").replace("–", "-"), "mac_roman"),
        (GERMAN.replace("„West“", "").replace("–", "-"), "cp850"),
        ("miasto;x\nŁódź;1\nKraków;2\nBiałystok;3\n", "cp1250"),
        ("miasto;x\nBiałystok;1\n", "iso8859_2"),
        ("город;x\nМосква;1\n", "cp1251"),
        ("πόλη;x\nΑθήνα;1\n", "iso8859_7"),
        ("都市;x\n東京;1\n", "shift_jis"),
    ],
)
def test_other_encodings_are_refused_and_not_misread(
    tmp_path: Path, text: str, encoding: str
) -> None:
    with pytest.raises(shoal.InputError, match=r"is not UTF-8.*--encoding"):
        read_table(saved(tmp_path, text, encoding))
    assert read_table(saved(tmp_path, text, encoding), encoding=encoding).columns[1]


def test_utf8_is_read_without_a_word(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert read_table(saved(tmp_path, GERMAN, "utf-8")).columns == ["Ort", "Größe"]


def test_detect_looks_at_the_bytes(tmp_path: Path) -> None:
    text = "город;возраст\n" + "".join(f"Москва и Санкт-Петербург;{age}\n" for age in range(40))
    path = saved(tmp_path, text, "cp1251")
    with pytest.warns(shoal.ShoalWarning, match="was detected: cp1251. Check that letters"):
        table = read_table(path, encoding="detect")
    assert table.columns == ["город", "возраст"]
