"""Trains the demo model's tokenizer: byte-level BPE behind Qwen2's pre-tokenizer, with Qwen3's chat tokens."""

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

# Parsed only where the caller asks for special tokens (CONTROL in llama.cpp).
CONTROL_TOKENS = ['<|endoftext|>', '<|im_start|>', '<|im_end|>']
# Parsed in any text (USER_DEFINED in llama.cpp), as Qwen3 has them.
ADDED_TOKENS = ['<tool_call>', '</tool_call>', '<tool_response>', '</tool_response>', '<think>', '</think>']
END_OF_TEXT, END_OF_TURN = '<|endoftext|>', '<|im_end|>'
# transformers' Qwen2 tokenizer; llama.cpp's pre-tokenizer "qwen2" is the same expression. Digits stay single.
QWEN2_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)

# What merges may not cross. Stricter than QWEN2_SPLIT: a word never merges with the space or quote before it, so it is
# the same token in a user's sentence and in JSON, and the policy can copy it as it is instead of learning a pair per
# word.
STRICT_SPLIT = r'_?\p{L}+|\p{N}|[^\s\p{L}\p{N}_]+|_| |[\r\n]+'
# A space joins a word that practically always follows one. These merges come last, so they change no other word.
SPACED_WORDS = 160
SPACED_SHARE = 0.98
SPACE = 'Ġ'


def read_corpus(path: Path) -> Iterator[str]:
    """Texts of the JSONL corpus, cut at chat tokens so that no merge is spent on their letters."""
    tokens = re.compile('|'.join(re.escape(token) for token in CONTROL_TOKENS + ADDED_TOKENS))
    with path.open(encoding='utf-8') as lines:
        for line in lines:
            yield from filter(None, tokens.split(json.loads(line)['text']))


def pre_tokenizer(split: str) -> pre_tokenizers.PreTokenizer:
    return pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(split), behavior='isolated'),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )


def spaced_words(texts: list[str], tokenizer: Tokenizer) -> list[str]:
    """The commonest words that are one token, nearly always stand after a space, and begin no longer word's pieces."""
    after_space, elsewhere = Counter(), Counter()
    for text in texts:
        for match in re.finditer('[A-Za-z]+', text):
            spaced = match.start() > 0 and text[match.start() - 1] == ' '
            (after_space if spaced else elsewhere)[match.group()] += 1
    pieces = {word: tokenizer.encode(word).tokens for word in after_space.keys() | elsewhere.keys()}
    beginnings = {tokens[0] for tokens in pieces.values() if len(tokens) > 1}
    common = [
        word
        for word, count in after_space.most_common()
        if len(pieces[word]) == 1 and word not in beginnings and count > SPACED_SHARE * (count + elsewhere[word])
    ]
    return common[:SPACED_WORDS]


def train(texts: list[str], vocab_size: int) -> Tokenizer:
    """A tokenizer of at most `vocab_size` entries: chat tokens first, then the 256 bytes, then merges."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizer(STRICT_SPLIT)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size - SPACED_WORDS,
        special_tokens=CONTROL_TOKENS + ADDED_TOKENS,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(texts, trainer)
    spaced = spaced_words(texts, tokenizer)
    # Its merges were learnt apart; it runs behind the pre-tokenizer that llama.cpp has.
    tokenizer.pre_tokenizer = pre_tokenizer(QWEN2_SPLIT)
    saved = json.loads(tokenizer.to_str())
    model = saved['model']
    for word in spaced:
        model['vocab'][SPACE + word] = len(model['vocab'])
        model['merges'].append([SPACE, word])
    # The trainer marks all of them special; the tags must survive `skip_special_tokens`, as in Qwen3.
    for token in saved['added_tokens']:
        token['special'] = token['content'] in CONTROL_TOKENS
    return Tokenizer.from_str(json.dumps(saved))


def save(tokenizer: Tokenizer, folder: Path, chat_template: str) -> None:
    """Writes `tokenizer.json`, `tokenizer_config.json` and `chat_template.jinja`, loadable by AutoTokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer.save(str(folder / 'tokenizer.json'))
    config = {
        'tokenizer_class': 'PreTrainedTokenizerFast',
        'eos_token': END_OF_TURN,
        'pad_token': END_OF_TEXT,
        'bos_token': None,
        'clean_up_tokenization_spaces': False,
        'model_max_length': 2048,
    }
    (folder / 'tokenizer_config.json').write_text(json.dumps(config, indent=2) + '\n')
    (folder / 'chat_template.jinja').write_text(chat_template, encoding='utf-8')


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--corpus', type=Path, required=True, help='JSONL, one {"text": ...} per line')
    parser.add_argument('--chat-template', type=Path, required=True)
    parser.add_argument('--out', type=Path, required=True, help='folder')
    parser.add_argument('--vocab-size', type=int, default=2048, help='size of the table; fewer entries may be filled')
    arguments = parser.parse_args()
    tokenizer = train(list(read_corpus(arguments.corpus)), arguments.vocab_size)
    save(tokenizer, arguments.out, arguments.chat_template.read_text(encoding='utf-8'))
    print(json.dumps({'entries': tokenizer.get_vocab_size(), 'table': arguments.vocab_size}))


if __name__ == '__main__':
    main()
