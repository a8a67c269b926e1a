// What the page does beyond plain forms. Without this file everything still works by submitting.
"use strict";

const all = (selector, root = document) => [...root.querySelectorAll(selector)];
const say = (text) => { document.getElementById("spoken").textContent = text; };

// Take the live regions of a page that the server wrote into this one. A region that holds the
// focus stays, so that nobody's typing is lost; the regions inside it are taken all the same.
function swap(next, force) {
  const active = document.activeElement;
  const held = active ? active.id : "";
  for (const region of all("[data-live]")) {
    if (!region.isConnected) continue;
    const fresh = next.getElementById(region.id);
    if (!fresh || fresh.outerHTML === region.outerHTML) continue;
    if (!force && region.contains(active) && region !== active) continue;
    region.replaceWith(document.importNode(fresh, true));
  }
  if (force && held && document.activeElement !== active) {
    const again = document.getElementById(held);
    if (again) again.focus();
  }
}

async function fetchPage(address, options) {
  const answer = await fetch(address, { ...options, headers: { Accept: "text/html" } });
  const next = new DOMParser().parseFromString(await answer.text(), "text/html");
  return { answer, next };
}

// Forms that answer while they are filled in.
for (const form of all("form[data-live-form]")) {
  let timer = 0;
  let turn = 0;
  const send = async (submitter) => {
    const mine = ++turn;
    const data = new FormData(form, submitter || undefined);
    try {
      const { answer, next } = await fetchPage(form.action, { method: "POST", body: new URLSearchParams(data) });
      if (mine !== turn) return;
      if (answer.ok || answer.status === 422) swap(next, Boolean(submitter));
      form.dataset.settled = String(mine);
    } catch (fault) {
      say("The server does not answer. Is shoal serve still running?");
    }
  };
  const later = (wait) => { clearTimeout(timer); timer = setTimeout(send, wait); };
  form.addEventListener("input", (event) => { if (event.target.id !== "add") later(event.target.tagName === "SELECT" ? 0 : 300); });
  form.addEventListener("submit", (event) => {
    clearTimeout(timer);
    if (event.submitter && event.submitter.hasAttribute("data-live-submit")) {
      event.preventDefault();
      send(event.submitter);
    }
  });
}

// Pages that wait for something.
function poll() {
  const waiting = document.querySelector("[data-poll]");
  if (!waiting) return;
  setTimeout(async () => {
    try {
      const { next } = await fetchPage(location.href);
      if (next.body.dataset.page !== document.body.dataset.page) { location.reload(); return; }
      if (!next.querySelector("[data-poll]")) {
        say("Done.");
        if (!waiting.hasAttribute("data-live")) { location.reload(); return; }
        swap(next, true);
        return;
      }
      swap(next, !waiting.contains(document.activeElement));
    } catch (fault) {
      say("The server does not answer.");
    }
    poll();
  }, Number(waiting.dataset.poll));
}
poll();

// Drop a file, and see how much of it is sent.
const drop = document.getElementById("drop");
if (drop) {
  const chosen = drop.querySelector("input[type=file]");
  const fault = document.getElementById("drop-fault");
  const bar = document.getElementById("sent");
  const fits = () => {
    const file = chosen.files[0];
    const large = file && file.size > Number(drop.dataset.limit);
    fault.textContent = large ? `${file.name} is larger than the limit. Start the page with: shoal serve FILE` : "";
    return file && !large;
  };
  for (const name of ["dragover", "dragenter"]) {
    drop.addEventListener(name, (event) => { event.preventDefault(); drop.classList.add("over"); });
  }
  for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    if (!event.dataTransfer.files.length) return;
    chosen.files = event.dataTransfer.files;
    drop.requestSubmit();
  });
  chosen.addEventListener("change", fits);
  drop.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!fits()) return;
    const request = new XMLHttpRequest();
    request.open("POST", drop.action);
    request.setRequestHeader("Accept", "text/html");
    request.responseType = "document";
    bar.hidden = false;
    request.upload.addEventListener("progress", (e) => { if (e.lengthComputable) bar.value = e.loaded / e.total; });
    request.addEventListener("load", () => {
      if (request.status < 400) { location.assign(request.responseURL); return; }
      const text = request.responseXML && request.responseXML.querySelector(".note, main p");
      fault.textContent = text ? text.textContent.trim() : "The file was not taken.";
      bar.hidden = true;
    });
    request.addEventListener("error", () => { fault.textContent = "The file could not be sent."; bar.hidden = true; });
    request.send(new FormData(drop));
  });
}

// Copy a command.
for (const button of all("[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent);
      say("Copied.");
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    } catch (fault) {
      getSelection().selectAllChildren(source);
      say("Selected; copy it with the keyboard.");
    }
  });
}

// Colours change at once, without a new page.
for (const form of all("form.theme")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const chosen = event.submitter.value;
    document.documentElement.dataset.theme = chosen;
    for (const button of all("button", form)) button.setAttribute("aria-pressed", String(button.value === chosen));
    fetch(form.action, { method: "POST", body: new URLSearchParams(new FormData(form, event.submitter)), redirect: "manual" });
  });
}

// The tree: a filter.
for (const part of all("[data-needs-script]")) part.hidden = false;
for (const field of all("[data-filter]")) {
  field.addEventListener("input", () => {
    const wanted = field.value.trim().toLowerCase();
    for (const item of all("li", document.getElementById(field.dataset.filter)).reverse()) {
      const own = item.querySelector("bdi").textContent.toLowerCase().includes(wanted);
      const below = all("li", item).some((child) => !child.hidden);
      item.hidden = Boolean(wanted) && !own && !below;
      const branch = item.querySelector("details");
      if (branch && wanted && below) branch.open = true;
    }
  });
}
for (const field of all("#maker input[name^=numbers-]")) {
  field.addEventListener("focus", () => { field.closest(".choice").querySelector("input[type=radio]").checked = true; });
}
