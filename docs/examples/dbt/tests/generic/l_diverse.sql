{#
    Every class has at least l different values of the sensitive column. A missing value, an empty
    text, a suppressed one (*) and those of nothing add no diversity; capitals and spaces around a
    value do not make it another one.
    Returns the classes with too few; an empty table is reported, too, as one with none.
#}
{% test l_diverse(model, quasi, sensitive, l, nothing=[]) %}

{%- if quasi is string or not quasi or sensitive in quasi %}
    {{- exceptions.raise_compiler_error("l_diverse: quasi is a list of columns without the sensitive one; got " ~ quasi) }}
{%- endif %}
{%- if l is not integer or l < 2 %}
    {{- exceptions.raise_compiler_error("l_diverse: l is a whole number of at least 2; got " ~ l) }}
{%- endif %}
{%- set cells = [] %}
{%- for name in quasi %}{% do cells.append(adapter.quote(name)) %}{% endfor %}
{%- set none_of = ["''", "'*'"] %}
{%- for text in nothing %}{% do none_of.append("'" ~ (text | string | trim | lower | replace("'", "''")) ~ "'") %}{% endfor %}

with texts as (
    select {{ cells | join(", ") }}, lower(trim(cast({{ adapter.quote(sensitive) }} as varchar))) as shoal_value
    from {{ model }}
),
classes as (
    select
        {{ cells | join(", ") }},
        count(distinct case when shoal_value not in ({{ none_of | join(", ") }}) then shoal_value end) as different_values
    from texts
    group by {{ cells | join(", ") }}
)
select * from classes where different_values < {{ l }}
union all
select {% for _ in quasi %}null, {% endfor %}0 where not exists (select 1 from classes)

{% endtest %}
