"""What a rank says of files when another is lost."""

import pytest

from fairsmooth.cli import ranked
from fairsmooth.distributed.process_group import LostRank


class Model:
    def __init__(self):
        self.saved = []

    def save(self, path):
        self.saved.append(path)


@pytest.mark.parametrize(
    ("rank", "words"),
    [(0, "of them. .*m.safetensors was written and is whole"), (1, "If .*m.safetensors is there")],
)
def test_a_rank_lost_after_writing_does_not_say_that_nothing_was_written(tmp_path, rank, words):
    class Ranks:
        def together(self, work):
            work()
            raise LostRank("Expected all, got two of them.")

    ranks, model = Ranks(), Model()
    ranks.rank = rank
    with pytest.raises(LostRank, match=words) as error:
        ranked._write(model, tmp_path / "m.safetensors", ranks)
    assert "Nothing was written" not in str(error.value)
    assert len(model.saved) == (rank == 0)
