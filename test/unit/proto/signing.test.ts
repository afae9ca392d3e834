import { generateKeyPairFromSeed, publicKeyFromRaw } from '@libp2p/crypto/keys'
import { peerIdFromPublicKey } from '@libp2p/peer-id'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { SwarmRefusal } from '../../../proto/index.js'
import { checkSignature, signBytes, signerWith } from '../../../proto/signing.js'

const keyOf = (seed: number) => generateKeyPairFromSeed('Ed25519', new Uint8Array(32).fill(seed))
const bytes = new TextEncoder().encode('a message')
const codeOf = (work: () => unknown): string | null => {
  try {
    work()
    return null
  } catch (why) {
    assert.instance(why, SwarmRefusal)
    return (why as SwarmRefusal).code
  }
}

test('signatures and names are those of libp2p, the first time and from memory', async () => {
  const key = await keyOf(1)
  for (let time = 0; time < 2; time++) {
    const signature = signBytes(key, bytes)
    assert.equal([...signature], [...(await key.sign(bytes))])
    assert.ok(await publicKeyFromRaw(key.publicKey.raw).verify(bytes, signature))
    const signer = signerWith(key.publicKey.raw)
    assert.is(signer.peerId, peerIdFromPublicKey(key.publicKey).toString())
    assert.is(
      codeOf(() => checkSignature(signer, bytes, signature)),
      null,
    )
  }
})

test('a signature of another key, of other bytes, or of no key is refused', async () => {
  const [key, other] = [await keyOf(1), await keyOf(2)]
  const signer = signerWith(key.publicKey.raw)
  assert.is(
    codeOf(() => checkSignature(signer, bytes, signBytes(other, bytes))),
    'bad_signature',
  )
  assert.is(
    codeOf(() => checkSignature(signer, bytes.subarray(1), signBytes(key, bytes))),
    'bad_signature',
  )
  assert.is(
    codeOf(() => signerWith(new Uint8Array(31))),
    'bad_signature',
  )
})

test.run()
