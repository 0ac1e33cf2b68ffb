"""What an agent that waits for a person waits for, from the activity that its hooks or plugin reported."""

from mngr.model.agent import WaitingReason

WAITING_REASONS = {
    "end_of_turn": WaitingReason.END_OF_TURN,
    "permission": WaitingReason.PERMISSION,
    "input": WaitingReason.INPUT,
}
