"""How a provider misbehaves when the fake API is told to, and the error that each of it comes to."""

import json
from collections.abc import Mapping
from typing import Final

from counterpoint.errors import AgentError, BadReply, Unreachable
from tests.agents.models import GOOD, KEY

__all__ = ["APPROVES", "FAULTS", "MANY", "SILENT", "SPOKEN"]

APPROVES: Final = json.dumps(GOOD)
ESCAPED: Final = APPROVES.replace("fine", KEY.replace("-", r"\u002d"))
"""An answer that holds the planted key as JSON may write it."""
MANY: Final = 100 * 1024 * 1024

SPOKEN: Final = {
    "empty": ('@@text ""', "the reply is empty"),
    "prose": ('@@text "Looks good. APPROVED."', "the reply begins with 'Looks good"),
    "fence": (f"@@text {json.dumps(f'```json{chr(10)}{APPROVES}{chr(10)}```')}", "the reply stands in a code fence"),
    "two": (f"@@text {json.dumps(APPROVES + APPROVES)}", "the reply goes on after its JSON object"),
    "half": (f"@@text {json.dumps(APPROVES[:-10])}", "the reply is not one strict JSON object"),
    "schema": ('@@json {"summary": "fine", "approved": "yes"}', "approved: expected boolean"),
    "loosened": (f"@@json {json.dumps({**GOOD, 'summary': 'x' * 101})}", "summary: expected maxLength 100"),
}
"""Answers that are not the one object."""

FAULTS: Final[Mapping[str, tuple[type[AgentError], str]]] = {
    "@@cut": (Unreachable, "broke off"),
    "@@short": (Unreachable, "ended before the answer did"),
    "@@fail 400": (Unreachable, "answered 400: scripted failure 400"),
    "@@fail 401": (Unreachable, "answered 401"),
    "@@fail 429": (Unreachable, "answered 429"),
    "@@fail 500": (Unreachable, "answered 500"),
    "@@fail 529": (Unreachable, "answered 529"),
    "@@end failed": (Unreachable, "was told of a failure: the fake "),
    "@@redirect http://127.0.0.1:9/": (Unreachable, "a redirect to http://127.0.0.1:9/; redirects are not followed"),
    f"@@flood {MANY}": (BadReply, "more than 1048576 characters"),
    f"@@endless {MANY}": (BadReply, "sent more than 8388608 bytes"),
    "@@garbage": (BadReply, "an event of 'critic' is not a JSON object: {not json"),
    "@@plain": (BadReply, "answered with application/json; text/event-stream was asked for"),
    "@@nousage": (BadReply, "does not say how many tokens it used"),
    "@@nomodel": (BadReply, "does not say which model answered"),
    f"@@model {'x' * 201}": (BadReply, f"says that '{'x' * 40}'… answered, which is no model's name"),
    "@@call read_file {}": (BadReply, "called the tool 'read_file'; no tool was offered"),
    "@@end refused": (BadReply, "the model of 'critic' refused"),
    "@@end truncated": (BadReply, "was cut at its limit"),
    "@@end paused": (BadReply, "of 'critic' ended with"),
    f'@@text "my key is {KEY}"': (BadReply, "holds the value of CRITIC_API_KEY"),
    f"@@text {json.dumps(ESCAPED)}": (BadReply, "holds the value of CRITIC_API_KEY"),
    f"@@model {KEY}": (BadReply, "holds the value of CRITIC_API_KEY"),
}
"""What goes wrong around an answer that would pass."""

SILENT: Final = ("@@hang", "@@stall", "@@drip 0.05")
"""Answers that do not end."""
