"""How alarms reach people: each once when it begins and once when it is over, as far as that can be had."""
