import protobuf from 'protobufjs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { crc32c, tensorboardFile } from '../../../proto/tensorboard.js'

/** The fields of TensorFlow's event.proto and summary.proto that the program writes. */
const { root } = protobuf.parse(`
  syntax = "proto3";
  message Value { string tag = 1; float simple_value = 2; }
  message Summary { repeated Value value = 1; }
  message Event { double wall_time = 1; int64 step = 2; string file_version = 3; Summary summary = 5; }
`)
const Event = root.lookupType('Event')

/** Reads records, and checks both checksums of each. */
function readRecords(file: Uint8Array): unknown[] {
  const bytes = Buffer.from(file)
  const unmasked = (at: number): number => {
    const rotated = (bytes.readUInt32LE(at) - 0xa282ead8) >>> 0
    return ((rotated >>> 17) | (rotated << 15)) >>> 0
  }
  const events: unknown[] = []
  for (let at = 0; at < bytes.length; ) {
    const length = Number(bytes.readBigUInt64LE(at))
    assert.is(unmasked(at + 8), crc32c(bytes.subarray(at, at + 8)))
    const data = bytes.subarray(at + 12, at + 12 + length)
    assert.is(unmasked(at + 12 + length), crc32c(data))
    events.push(Event.toObject(Event.decode(data), { longs: Number }))
    at += 16 + length
  }
  return events
}

test('the checksum matches the test vectors of the standard', () => {
  assert.is(crc32c(Buffer.from('123456789')), 0xe3069283)
  // RFC 3720, appendix B.4: 32 bytes of zeroes, and of ones.
  assert.is(crc32c(new Uint8Array(32)), 0x8a9136aa)
  assert.is(crc32c(new Uint8Array(32).fill(255)), 0x62a8ab43)
})

test('a file begins with the same bytes as a file of TensorFlow', () => {
  const file = Buffer.from(tensorboardFile(1, []))
  // The first record of any file has 24 bytes, so all files begin with the same bytes.
  assert.is(file.subarray(0, 12).toString('hex'), '1800000000000000a37f4b22')
  assert.is(file.subarray(21, 36).toString('latin1'), '\x1a\x0dbrain.Event:2')
})

test('written events can be read back by the schema, with valid checksums', () => {
  const values = new Map([
    ['policy/reward', 0.5],
    ['train/loss', -0.25],
  ])
  const file = tensorboardFile(1_700_000_000, [
    { step: 1, wallTime: 1_700_000_001, values: new Map() },
    { step: 350, wallTime: 1_700_000_002.5, values },
  ])
  assert.equal(readRecords(file), [
    { wallTime: 1_700_000_000, fileVersion: 'brain.Event:2' },
    { wallTime: 1_700_000_001, step: 1, summary: {} },
    {
      ...{ wallTime: 1_700_000_002.5, step: 350 },
      summary: { value: [...values].map(([tag, simpleValue]) => ({ tag, simpleValue })) },
    },
  ])
})

test.run()
