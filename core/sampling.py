"""Which interactions are sampled: decided by each one's id alone."""

from __future__ import annotations

from hashlib import blake2b

_DRAWS = 2**64


def is_sampled(interaction_id: str, *, rate: float, seed: int) -> bool:
    """Whether the interaction belongs to the sample of `rate`, in (0, 1].

    The hash of seed and id is a whole number in [0, 2⁶⁴) and is drawn when it lies under rate · 2⁶⁴: order, restarts and the
    size of chunks change nothing, a rate of 1 takes all, and who is drawn at some rate is drawn at every higher one, too.
    """
    # a text that UTF-8 cannot carry (half an emoji, as some loggers cut them) has an id as well
    content = f"{seed}:{interaction_id}".encode(errors="surrogatepass")
    return int.from_bytes(blake2b(content, digest_size=8).digest(), "big") < rate * _DRAWS
