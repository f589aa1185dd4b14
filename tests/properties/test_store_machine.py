"""Any sequence of appends, crashes, losses and tamperings leaves a store that agrees with a plain list.

Source: SECURITY C.3 level 2. The model is the list of texts that were acknowledged. A crash may also leave what was
being appended, whole. What was changed or rolled back is found, never served as the record.
"""

import errno
from collections.abc import Sequence

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from counterpoint.errors import Corrupt, CounterpointError, RecordError
from counterpoint.record.bell import write_object
from counterpoint.record.files import FileStore, Layout
from counterpoint.record.fs import Access
from counterpoint.record.heads import Heads
from tests.channels import HEADS, STAMP, begin, draft, file_store, texts
from tests.disk import Disk
from tests.power import power_cuts

SAID = st.lists(st.text("ab\n #`", min_size=1, max_size=12).map(lambda text: f"x{text}x"), min_size=1, max_size=3)
OPERATIONS = ["write", "sync", "sync_folder", "rename", "open", "make", "read"]


class StoreMachine(RuleBasedStateMachine):
    """A store over a disk in memory, and the list that it should be."""

    layout = Layout.CASES

    @initialize()
    def begin(self) -> None:
        self.disk = Disk()
        root = self.disk.folder("/")
        self.disk.make_folder(root, "root", 0o755)
        self.disk.make_folder(root, "state", 0o700)
        self.channel = begin(self.store, self.layout, signed=False)
        self.said: list[str] = []
        self.earlier: list[Disk] = []

    @property
    def store(self) -> FileStore:
        return file_store("/root", self.layout, fs=self.disk, heads=Heads(self.disk, HEADS))

    @property
    def folder(self) -> str:
        return f"/root/{self.channel}" if self.layout is Layout.CASES else "/root"

    def path(self, suffix: str) -> str:
        return f"{self.folder}/{self.channel}.{suffix}"

    def append(self, disk: Disk, some: Sequence[str], *, expected: int | None) -> None:
        store = file_store("/root", self.layout, fs=disk, heads=Heads(disk, HEADS))
        typed = self.layout is Layout.CASES
        store.append(self.channel, [draft(text, typed=typed) for text in some], expected=expected)

    @rule(some=SAID)
    def say(self, some: list[str]) -> None:
        self.disk = self.disk.settled()
        self.earlier = [*self.earlier[-3:], self.disk.settled()]
        self.append(self.disk, some, expected=len(self.said))
        self.said += some

    @rule(some=SAID, choice=st.integers(0, 10_000))
    def cut_the_power(self, some: list[str], choice: int) -> None:
        base = self.disk.settled()
        disk = base.settled()
        self.append(disk, some, expected=len(self.said))
        disk.ack("said")
        cuts = list(power_cuts(disk, base))
        cut = cuts[choice % len(cuts)]
        self.disk = cut.disk
        found = texts(self.store, self.channel)
        assert found in (self.said, self.said + some)
        assert not cut.acks or found == self.said + some
        self.said = found

    @rule(some=SAID, operation=st.sampled_from(OPERATIONS), passed=st.integers(0, 12))
    def fail(self, some: list[str], operation: str, passed: int) -> None:
        self.disk = self.disk.settled()
        self.disk.fail = {operation: (passed, errno.EIO)}
        try:
            self.append(self.disk, some, expected=len(self.said))
            self.said += some
        except RecordError as error:
            if "is recorded" in error.message:
                self.said += some
        self.disk = self.disk.settled()

    @rule(suffix=st.sampled_from(["index", "signal.json"]))
    def lose(self, suffix: str) -> None:
        self.disk = self.disk.settled()
        with self.store.hold(self.channel) as held:
            is_torn = held.view.torn is not None
        if is_torn and self.layout is Layout.SHARED:
            # Only the index tells an entry of ours, torn off between two lines, from one of the public tool.
            self.append(self.disk, ["mended"], expected=None)
            self.said.append("mended")
            self.disk = self.disk.settled()
        folder = self.disk.folder(self.folder)
        if self.disk.look(folder, f"{self.channel}.{suffix}") is not None:
            self.disk.unlink(folder, f"{self.channel}.{suffix}")

    # In a shared channel what precedes an entry of the public tool is not sealed in, and blank lines do not count.
    @precondition(lambda self: self.layout is Layout.CASES)
    @rule(where=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
    def tamper(self, where: float, bit: int) -> None:
        disk = self.disk.settled()
        content = disk.get(self.path("channel.md"))
        at = int(where * len(content))
        disk.put(self.path("channel.md"), content[:at] + bytes([content[at] ^ 1 << bit]) + content[at + 1 :])
        store = file_store("/root", self.layout, fs=disk, heads=Heads(disk, HEADS))
        with pytest.raises(CounterpointError):
            store.verify(self.channel)

    @precondition(lambda self: self.earlier)
    @rule(choice=st.integers(0, 3))
    def roll_back(self, choice: int) -> None:
        earlier = self.earlier[choice % len(self.earlier)]
        disk = self.disk.settled()
        for name in earlier.listing(self.folder):
            if not name.endswith(".lock"):  # a copy of a file has the time of the copying: nobody's lock would be new
                disk.put(f"{self.folder}/{name}", earlier.get(f"{self.folder}/{name}"))
        store = file_store("/root", self.layout, fs=disk, heads=Heads(disk, HEADS))
        if len(earlier.get(self.path("channel.md"))) < len(self.disk.get(self.path("channel.md"))):
            with pytest.raises(Corrupt):
                store.append(self.channel, [draft("after the roll-back")], expected=None)

    @invariant()
    def agrees_with_the_list(self) -> None:
        if hasattr(self, "said"):
            self.disk = self.disk.settled()
            assert texts(self.store, self.channel) == self.said
            assert self.store.head(self.channel)[0] == len(self.said)

    def teardown(self) -> None:
        if hasattr(self, "said"):
            self.disk = self.disk.settled()
            self.append(self.disk, ["the end"], expected=None)
            assert self.store.verify(self.channel).n == len(self.said) + 1


class SharedMachine(StoreMachine):
    """The same beside the public tool."""

    layout = Layout.SHARED

    @rule(text=st.sampled_from(["theirs", "theirs\n\ntwo lines"]), rings=st.booleans())
    def post_by_the_public_tool(self, text: str, *, rings: bool) -> None:
        self.disk = self.disk.settled()
        with self.store.hold(self.channel) as held:
            number, is_well = held.n + 1, held.bell is not None and held.view.torn is None
        if not is_well:  # the tool itself would begin its numbers anew, or write behind what was torn
            self.append(self.disk, ["mended"], expected=None)
            self.said.append("mended")
            number += 1
        entry = f"\n## MSG-{number} | {STAMP} | from: claude | type: info | thread: retry | refs: -\n\n{text}\n"
        self.disk = self.disk.settled()
        fd = self.disk.open(self.disk.folder(self.folder), f"{self.channel}.channel.md", Access.APPEND)
        self.disk.write(fd, entry.encode())
        if rings:
            bell = {"seq": number, "turn": "", "thread": "", "last_entry": f"MSG-{number}", "updated_at": STAMP}
            self.disk.put(self.path("signal.json"), write_object(bell))
        found = texts(self.store, self.channel)
        # Its writer died before the doorbell, in a place where one of ours had died too: nobody acknowledged it.
        assert found == [*self.said, text] or (not rings and found == self.said)
        self.said = found


TestCaseChannel = StoreMachine.TestCase
TestSharedChannel = SharedMachine.TestCase
TestCaseChannel.settings = TestSharedChannel.settings = settings(
    max_examples=12, stateful_step_count=15, phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink)
)


@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("machine", [StoreMachine, SharedMachine])
def test_longer_sequences_agree_with_the_list(machine: type[StoreMachine]) -> None:
    """As above, for longer."""
    longer = settings(max_examples=300, stateful_step_count=30, derandomize=False, print_blob=True)
    run_state_machine_as_test(machine, settings=longer)


@pytest.mark.parametrize("choice", range(0, 400, 40))
def test_a_cut_inside_the_first_batch_loses_nothing_when_the_index_is_lost_too(choice: int) -> None:
    """What was acknowledged before the batch is still read, and the next append goes on behind it (C.1)."""
    machine = StoreMachine()
    machine.begin()
    machine.say(["one"])
    machine.cut_the_power(some=["two", "three", "four"], choice=choice)
    machine.lose("index")
    machine.agrees_with_the_list()
    machine.teardown()
