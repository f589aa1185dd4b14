"""Every rule that can refuse, where it comes from, and its two examples.

`test_house` compares this list both ways with the ids in the source, the tests named here and the headings
under `docs/`. A rule without both examples fails, and so does an example of no rule.
"""

from typing import Final

from tests.rules.answer_rules import ANSWER
from tests.rules.ballot_rules import BALLOT
from tests.rules.entries_rules import ENTRIES
from tests.rules.mailbox_rules import MAILBOX
from tests.rules.propose_rules import PROPOSE
from tests.rules.review_rules import REVIEW
from tests.rules.stages_rules import STAGES

__all__ = ["RULES"]

RULES: Final = (*REVIEW, *MAILBOX, *ENTRIES, *STAGES, *PROPOSE, *ANSWER, *BALLOT)
