"""The table of categories."""

from __future__ import annotations

from eval_skills.scorers.tools.categories import DEFAULT_CATEGORIES, category_table


def test_the_default_table_has_eight_and_bash_satisfies_seven() -> None:
    assert set(category_table({})) == {"file_read", "file_write", "file_list", "search", "shell", "web", "git", "python"}
    assert sum("bash" in tools for tools in DEFAULT_CATEGORIES.values()) == 7


def test_p80_own_tools_extend_a_category_and_new_names_add_one() -> None:
    table = category_table({"web": ["my_http", "curl"], "database": ["sql_run"]})
    assert table["web"] == (*DEFAULT_CATEGORIES["web"], "my_http")
    assert table["database"] == ("sql_run",)


def test_a_category_can_be_replaced_and_a_tool_taken_out() -> None:
    table = category_table({"=shell": ["sh"], "git": ["-bash", "jj"]})
    assert table["shell"] == ("sh",)
    assert "bash" not in table["git"]
    assert "jj" in table["git"]
    assert "bash" in DEFAULT_CATEGORIES["git"]
