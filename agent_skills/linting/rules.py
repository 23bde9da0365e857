"""All rules by code: how bad a breach is, who set the rule, and what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Severity = Literal["error", "warning", "note"]
SEVERITIES: tuple[Severity, ...] = get_args(Severity)

Profile = Literal["spec", "anthropic-upload", "claude-code"]
PROFILES: tuple[Profile, ...] = get_args(Profile)
"""What can be asked for: the standard of agentskills.io, and what two products demand beside it."""

Source = Literal["spec", "eval-skills", "anthropic-upload", "claude-code"]
SOURCES: tuple[Source, ...] = get_args(Source)
"""Who set a rule; `eval-skills` are checks of ours, which no specification demands."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule; `of_many` where it is about several skills together."""

    severity: Severity
    source: Source
    summary: str
    of_many: bool = False


def _rules(severity: Severity, source: Source, of_many: bool = False, /, **summaries: str) -> dict[str, Rule]:
    return {code.replace("_", "-"): Rule(severity, source, summary, of_many) for code, summary in summaries.items()}


RULES: dict[str, Rule] = {
    **_rules(
        "error",
        "spec",
        skill_file_name="the file is called SKILL.md, in these letters",
        skill_file_unreadable="SKILL.md is a regular file of at most 1 MB within its folder",
        not_utf8="SKILL.md is UTF-8",
        byte_order_mark="SKILL.md begins with ---, not with a byte order mark",
        blank_first_line="SKILL.md begins with ---, not with a blank line",
        frontmatter_missing="SKILL.md begins with a frontmatter",
        frontmatter_unclosed="a line that is exactly --- ends the frontmatter",
        frontmatter_unquoted_colon="a value that holds a colon has quotes",
        frontmatter_yaml="the frontmatter is valid YAML",
        frontmatter_not_a_map="the frontmatter holds keys with values",
        frontmatter_duplicate_key="no key is given twice",
        frontmatter_alias="a value is written out, not an alias of a list or map",
        frontmatter_too_large="the frontmatter has at most 65,536 characters, 5,000 values and 16 levels",
        unknown_field="there are no fields but those of the standard",
        name_missing="there is a name",
        name_type="the name is text",
        name_length="the name has at most 64 characters",
        name_case="the name is in lower case",
        name_characters="the name holds letters, digits and - only",
        name_hyphens="the name neither begins nor ends with -, and holds no --",
        name_folder="the name is that of the folder",
        description_missing="there is a description",
        description_type="the description is text",
        description_length="the description has at most 1,024 characters",
        license_type="license is text",
        compatibility_type="compatibility is text",
        compatibility_length="compatibility has 1 to 500 characters",
        metadata_type="metadata is a map",
        metadata_value="every value of metadata is text",
        allowed_tools_type="allowed-tools is one text",
    ),
    **_rules(
        "warning",
        "spec",
        skill_file_case="the file is called SKILL.md, not skill.md",
        frontmatter_dashes="there is no --- within the frontmatter, where some readers end it",
        frontmatter_comment="the description is not cut by a # after a blank",
        frontmatter_not_portable="the frontmatter holds nothing strict readers refuse: anchors, tags, brackets, blanks at ---",
        name_not_ascii="the name holds a to z, digits and - only, as the text of the standard says",
        name_not_normal="the name is written as it is compared: without blanks around it, NFKC",
        value_not_text="a value that YAML reads as a number, date, truth value or nothing has quotes",
        allowed_tools_separator="blanks separate the tools of allowed-tools",
        body_lines="the body has at most 500 lines",
        body_tokens="the body has at most 5,000 tokens (estimated)",
        reference_dead="what SKILL.md refers to is there",
        reference_deep="references are one level deep",
        reference_absolute="references are relative",
        reference_home="references do not begin at a home folder",
        reference_outside="references stay within the folder",
    ),
    **_rules(
        "note",
        "spec",
        vendor_field="a field that the chosen vendor reads and the standard does not know",
        metadata_not_text="a value of metadata that YAML reads as a number, date or truth value has quotes",
        listing_tokens="name and description have about 100 tokens at most (estimated)",
    ),
    **_rules(
        "warning",
        "eval-skills",
        description_no_when="the description says when to use the skill",
        reference_unmentioned="what lies in references/ is mentioned",
        script_no_usage="a script says how to use it: a usage line, a docstring or a comment",
        script_not_executable="a script that begins with #! is executable",
        home_path="no file names the home folder of one person",
        secret="no file holds a key or password",  # noqa: S106 - the rule's name
        secret_file="there are no files that usually hold keys",  # noqa: S106 - the rule's name
        remote_code="nothing is fetched from the network and run at once",
        unrestricted_shell="allowed-tools does not approve every shell command",
        eval_leak="test cases do not quote the skill's own text",
        large_file="files have at most 1 MB",
        many_files="there are at most 10,000 files",
        link_outside="links stay within the folder",
        special_file="there are files and folders only",
    ),
    **_rules(
        "note",
        "eval-skills",
        body_empty="there are instructions after the frontmatter",
        nested_skill="no other SKILL.md lies within the skill",
        not_read="all text was looked at for keys, remote code and quotations",
    ),
    **_rules(
        "error",
        "anthropic-upload",
        reserved_word="the name holds neither anthropic nor claude",
        description_xml="the description holds no XML tags",
        field_not_text="name, description and compatibility are text for a reader of YAML 1.1",
        name_not_a_to_z="the name holds a to z, digits and - only",
    ),
    **_rules("warning", "anthropic-upload", description_angle="the description holds neither < nor >"),
    **_rules(
        "error",
        "claude-code",
        context_value="context is fork",
        switch_value="disable-model-invocation and user-invocable are true or false",
    ),
    **_rules(
        "warning", "claude-code", listing_entry="description and when_to_use have at most 1,536 characters together"
    ),
    **_rules(
        "note", "claude-code", not_listed="with disable-model-invocation, no description is shown and no trigger can be tested"
    ),
    **_rules(
        "warning",
        "eval-skills",
        True,
        name_collision="no two skills have one name",
        description_overlap="no two descriptions say almost the same",
        listing_budget="all descriptions together fit into the listing",
    ),
    **_rules("note", "eval-skills", True, copied_skill="no two folders hold the same skill"),
    **_rules("warning", "anthropic-upload", True, many_skills="there are at most 20 skills, as many as one session takes"),
}  # fmt: skip
"""In the order of the reference."""


def checks_of(profiles: frozenset[str]) -> int:
    """How many rules one skill is checked against."""
    return sum(not rule.of_many and rule.source in {"spec", "eval-skills", *profiles} for rule in RULES.values())
