from dataclasses import dataclass, field


@dataclass
class ChatMessageSystem:
    content: str


@dataclass
class ChatMessageUser:
    content: str


@dataclass
class ChatMessageTool:
    content: str


@dataclass
class ChatMessageAssistant:
    content: str
    tool_calls: list[tuple[str, dict]] = field(default_factory=list)

    @property
    def text(self):
        return self.content
