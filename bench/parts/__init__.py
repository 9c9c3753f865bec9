"""The parts of `bench/run`. A module here has TITLE, `measure(context)` -> numbers, and `text(numbers)` -> Markdown. What it
measures in processes of their own is its `main(*arguments)`, which prints JSON (`python -m parts.NAME ARGUMENTS`)."""
