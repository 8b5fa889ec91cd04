"""Names of things."""

from eapo_gym.envs.alfworld.names import entity_names


def test_things_of_a_kind_are_numbered_backwards_in_the_order_of_their_ids():
    assert entity_names(["mug_bar_2", "mug_bar_1", "desk_bar__minus_1", "agent1"]) == {
        "agent1": "agent1 ",
        "desk_bar__minus_1": "desk 1",
        "mug_bar_1": "mug 2",
        "mug_bar_2": "mug 1",
    }


def test_a_basin_is_not_the_sink_around_it():
    assert entity_names(["sink_bar_1", "sink_bar_1_bar_sinkbasin"]) == {
        "sink_bar_1": "sink 1",
        "sink_bar_1_bar_sinkbasin": "sinkbasin 1",
    }


def test_signs_are_spelt_out_in_ids():
    assert entity_names(["x_minus_y_dot_z"]) == {"x_minus_y_dot_z": "x-y.z "}
