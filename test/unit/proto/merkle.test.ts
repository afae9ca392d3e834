import { createHash } from 'node:crypto'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  acceptsGroup,
  contradiction,
  MerkleTree,
  merkleRoot,
  parseVerdictLeaf,
  rootByPath,
  verdictLeafText,
} from '../../../proto/index.js'
import { hash, logHead } from '../../support/proto-samples.js'

const treeOf = (leaves: readonly string[]): MerkleTree => {
  const tree = new MerkleTree()
  for (const leaf of leaves) tree.append(leaf)
  return tree
}

const leaves = (count: number): string[] => Array.from({ length: count }, (_, i) => `leaf ${i}`)

test('roots of known trees are those of RFC 6962', () => {
  // The vectors of the reference implementation, github.com/google/certificate-transparency, whose first leaf is empty.
  assert.is(merkleRoot([]), 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855')
  assert.is(merkleRoot(['']), '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d')
  const two = createHash('sha256')
    .update(Buffer.concat([Buffer.of(1), leafHash('a'), leafHash('b')]))
    .digest('hex')
  assert.is(merkleRoot(['a', 'b']), two)
})

const leafHash = (text: string): Buffer =>
  createHash('sha256')
    .update(Buffer.concat([Buffer.of(0), Buffer.from(text)]))
    .digest()

test('every leaf of a tree of any size has a path to its root, and no other leaf has it', () => {
  for (let count = 1; count <= 33; count++) {
    const all = leaves(count)
    const root = merkleRoot(all)
    const tree = treeOf(all)
    for (const [index, leaf] of all.entries()) {
      const path = tree.path(index)
      assert.is(rootByPath(leaf, index, count, path), root)
      assert.is.not(rootByPath(`${leaf}!`, index, count, path), root)
      assert.is.not(rootByPath(leaf, index, count, [...path, root]), root)
      if (path.length > 0) assert.is.not(rootByPath(leaf, index, count, path.slice(1)), root)
    }
  }
  assert.is(rootByPath('leaf 0', 1, 1, []), null)
})

test('a tree that grows has the root of each moment, and the same paths as one made at once', () => {
  const all = leaves(40)
  const tree = treeOf([])
  for (const [index, leaf] of all.entries()) {
    assert.is(tree.append(leaf), index)
    const now = all.slice(0, index + 1)
    assert.is(tree.root(), merkleRoot(now))
    assert.equal(tree.path(index >> 1), treeOf(now).path(index >> 1))
  }
  assert.throws(() => tree.path(40), /no leaf 40 among 40/)
})

const verdict = {
  leaseId: 'ab'.repeat(16),
  accepted: true,
  node: '12D3KooWvolunteer',
  bodySha256: hash('body'),
  rewards: [1.3, -0, 0.1],
  code: null,
  credit: 12.5,
}

test('a verdict has one text, which can be read back', () => {
  const text = verdictLeafText(verdict)
  assert.equal(parseVerdictLeaf(text), { ...verdict, rewards: [1.3, 0, 0.1] })
  assert.ok(acceptsGroup(text, verdict.leaseId))
  assert.not(acceptsGroup(text, 'ab'.repeat(15)))
  assert.not(acceptsGroup(verdictLeafText({ ...verdict, accepted: false, code: 'banned' }), verdict.leaseId))
  for (const other of [text.replace('1.3', '1.30'), text.replace('true', 'false'), ` ${text}`, '[]', '{'])
    assert.is(parseVerdictLeaf(other), null, other)
})

test('two heads contradict each other only where one history cannot have both', () => {
  assert.is(contradiction(logHead, logHead), null)
  assert.is(
    contradiction(logHead, { ...logHead, events: 121, logHash: hash('121'), verdicts: 4, verdictsRoot: hash('4') }),
    null,
  )
  assert.match(contradiction(logHead, { ...logHead, logHash: hash('another') })!, 'event 120')
  const later = { ...logHead, events: 200, logHash: hash('200'), verdictsRoot: hash('others') }
  assert.match(contradiction(logHead, later)!, 'the first 3 verdicts for step 8')
})

test.run()
