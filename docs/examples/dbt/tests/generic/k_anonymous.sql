{#
    Every class has at least k rows: rows with equal cells in the columns of quasi, a missing cell
    being a value of its own. With person (a pseudonym) different people are counted and not rows.
    Returns the classes that are too small; an empty table is reported, too, as one of size 0.
#}
{% test k_anonymous(model, quasi, k, person=none) %}

{%- if quasi is string or not quasi %}
    {{- exceptions.raise_compiler_error("k_anonymous: quasi is a list of columns, such as [age, zip]; got " ~ quasi) }}
{%- endif %}
{%- if k is not integer or k < 2 %}
    {{- exceptions.raise_compiler_error("k_anonymous: k is a whole number of at least 2; got " ~ k) }}
{%- endif %}
{%- set cells = [] %}
{%- for name in quasi %}{% do cells.append(adapter.quote(name)) %}{% endfor %}
{%- set counted = "*" if person is none else "distinct " ~ adapter.quote(person) %}

with classes as (
    select {{ cells | join(", ") }}, count({{ counted }}) as class_size
    from {{ model }}
    group by {{ cells | join(", ") }}
)
select * from classes where class_size < {{ k }}
union all
select {% for _ in quasi %}null, {% endfor %}0 where not exists (select 1 from classes)

{% endtest %}
