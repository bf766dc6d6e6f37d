"""States, stages and who may approve, as plain values."""

from __future__ import annotations

import pytest

from apps.changes.engine.approval_rules import (
    Given,
    Involved,
    approvals_that_count,
    require_approved,
    require_executor,
    require_second_person,
)
from apps.changes.engine.stages import default_stages
from apps.changes.engine.states import EDITABLE, OPEN, UNDER_WAY, State, may_move
from apps.changes.models import ChangeState
from apps.core.errors import Conflict, NotAllowed

BO, CHEN, DAN, EVA = 1, 2, 3, 4
ASKED_BY_BO = Involved(requester_id=BO, editor_ids=frozenset({BO}))


@pytest.mark.parametrize(
    ("involved", "person"),
    [
        (Involved(requester_id=BO, editor_ids=frozenset({CHEN})), BO),
        (Involved(requester_id=BO, editor_ids=frozenset({BO, CHEN, EVA})), CHEN),
        (Involved(requester_id=BO, editor_ids=frozenset({BO, CHEN, EVA})), EVA),
        (Involved(requester_id=BO, editor_ids=frozenset({BO}), executor_id=CHEN), CHEN),
    ],
    ids=["requester", "editor", "another editor", "executor"],
)
def test_nobody_of_the_change_may_approve_it(involved, person):
    with pytest.raises(NotAllowed) as refused:
        require_second_person(involved, person)
    assert refused.value.code == "four_eyes"
    require_second_person(involved, DAN)


def test_approvals_count_once_each_for_this_content_and_by_who_may_still_give_them():
    given = [
        Given(person_id=CHEN, digest="now"),
        Given(person_id=CHEN, digest="now"),
        Given(person_id=DAN, digest="before"),
        Given(person_id=EVA, digest="now"),
    ]
    counted = approvals_that_count(given, involved=ASKED_BY_BO, digest="now", able_ids={CHEN, DAN})
    assert counted == 1


def test_an_approver_who_became_an_editor_does_not_count():
    involved = Involved(requester_id=BO, editor_ids=frozenset({BO, CHEN, EVA}))
    given = [Given(person_id=CHEN, digest="now")]
    assert approvals_that_count(given, involved=involved, digest="now", able_ids={CHEN}) == 0
    assert approvals_that_count(given, involved=ASKED_BY_BO, digest="now", able_ids={CHEN}) == 1


def test_who_approved_this_content_does_not_carry_it_out():
    given = [Given(person_id=CHEN, digest="now"), Given(person_id=DAN, digest="before")]
    with pytest.raises(NotAllowed):
        require_executor(given, digest="now", person_id=CHEN)
    require_executor(given, digest="now", person_id=DAN)


def test_lacking_approvals_are_named():
    require_approved(2, 2)
    with pytest.raises(Conflict) as refused:
        require_approved(1, 2)
    assert refused.value.fields == {"count": 1, "needed": 2}


@pytest.mark.parametrize(
    ("nodes", "planned"),
    [
        ([], []),
        ([(1, "a")], [("one node", (1,), 0)]),
        ([(1, "a"), (2, "a")], [("one node", (1,), 60), ("its sub-domain", (2,), 0)]),
        ([(1, "a"), (2, "b")], [("one node", (1,), 60), ("the rest", (2,), 0)]),
        (
            [(1, "a"), (2, "b"), (3, "a"), (4, "b")],
            [("one node", (1,), 60), ("its sub-domain", (3,), 120), ("the rest", (2, 4), 0)],
        ),
    ],
)
def test_stages_go_from_one_node_over_its_sub_domain_to_the_rest(nodes, planned):
    stages = default_stages(nodes, soak_s=(60, 120))
    assert [(one.name, one.node_ids, one.soak_s) for one in stages] == planned


def test_what_is_over_moves_nowhere_but_back():
    over = set(State) - OPEN
    moves = {(old, new) for old in over for new in State if may_move(old, new)}
    assert moves == {(State.DONE, State.ROLLED_BACK), (State.FAILED, State.ROLLED_BACK)}


@pytest.mark.parametrize("state", sorted(UNDER_WAY))
def test_what_is_under_way_can_fail_or_be_rolled_back_and_not_be_edited(state):
    assert may_move(state, State.FAILED)
    assert may_move(state, State.ROLLED_BACK)
    assert not any(may_move(state, back) for back in EDITABLE)


def test_a_change_starts_only_from_approved():
    assert [state for state in State if may_move(state, State.RUNNING)] == [State.APPROVED]


def test_the_engine_and_the_table_name_the_same_states():
    assert [state.value for state in State] == ChangeState.values
