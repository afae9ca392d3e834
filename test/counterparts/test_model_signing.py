"""The verifier `model_signing` over a publication, with the command of docs/use-a-model/pull.md."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from served import CHECKOUT, PATIENCE_S, run_node

DOCUMENT = (CHECKOUT / "docs" / "use-a-model" / "pull.md").read_text()
(COMMAND,) = re.findall(r"^model_signing verify .*$", DOCUMENT, re.MULTILINE)

SIGN = """
const { mkdir, readFile, writeFile } = await import('node:fs/promises')
const { generateKeyPair, publicKeyToProtobuf } = await import('@libp2p/crypto/keys')
const { peerIdFromPrivateKey } = await import('@libp2p/peer-id')
const { sha256 } = await import('./dist/proto/index.js')
const { modelSignature } = await import('./dist/coordinator/versions/model-signature.js')
const { runCertificate } = await import('./dist/node/adapters/run-certificate.js')
const [folder, certificate] = process.argv.slice(1)
const key = await generateKeyPair('Ed25519')
const names = ['adapter.gguf', 'adapter_config.json', 'base/config.json']
await mkdir(`${folder}/base`, { recursive: true })
for (const name of names) await writeFile(`${folder}/${name}`, `content of ${name}`)
await writeFile(`${folder}/README.md`, 'not signed')
const described = async (name) => ({ name, sha256: sha256(await readFile(`${folder}/${name}`)) })
const files = await Promise.all(names.map(described))
await writeFile(`${folder}/model.sig`, modelSignature(key, { name: 'demo', version: 1, atMs: Date.now(), files }))
await writeFile(certificate, await runCertificate(folder, peerIdFromPrivateKey(key).toString()))
"""


@pytest.fixture
def publication(tmp_path):
    """Folder with a publication `my-adapter` and the certificate of its run, `run.pem`."""
    run_node(SIGN, str(tmp_path / "my-adapter"), str(tmp_path / "run.pem"))
    return tmp_path


def verify(folder):
    program, *arguments = shlex.split(COMMAND)
    return subprocess.run(
        [str(Path(sys.executable).parent / program), *arguments],
        cwd=folder,
        check=False,
        timeout=PATIENCE_S,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_the_verifier_accepts_a_publication(publication):
    done = verify(publication)
    assert done.returncode == 0, done.stdout
    assert "succeeded" in done.stdout.lower()


def test_the_verifier_rejects_a_changed_file_and_an_additional_file(publication):
    weights = publication / "my-adapter" / "adapter.gguf"
    content = weights.read_text()
    weights.write_text("changed")
    assert verify(publication).returncode != 0
    weights.write_text(content)
    (publication / "my-adapter" / "more.bin").write_text("more")
    assert verify(publication).returncode != 0


def test_the_verifier_rejects_the_certificate_of_another_run(publication, tmp_path):
    run_node(SIGN, str(tmp_path / "other"), str(publication / "run.pem"))
    assert verify(publication).returncode != 0
