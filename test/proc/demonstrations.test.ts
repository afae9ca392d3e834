import '../../swarm/polyfill.js'
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { execa } from 'execa'
import { suite } from 'uvu'
import { checkout } from '../support/checkout.js'
import { writeDemoTasks } from '../support/demo-tasks.js'
import { patience } from '../support/patience.js'
import { demoModel } from '../support/programs.js'

const test = suite<{ folder: string }>('demonstrations')

test.before(async (context) => {
  context.folder = await mkdtemp(join(tmpdir(), 'prove-demonstrations-'))
  await writeDemoTasks(join(context.folder, 'tasks'), 12, 3)
})
test.after(({ folder }) => rm(folder, { recursive: true, force: true }))

const demonstrations = (folder: string, ...flags: readonly string[]) =>
  execa(process.execPath, [join(checkout, 'dist', 'lab', 'main.js'), 'demonstrations', ...flags], {
    ...{ cwd: folder, reject: false, cancelSignal: patience() },
  })

/** Reads a tensor of a safetensors file: a length, a JSON header, then the data. */
function tensorOf(file: Buffer, name: string): number[] {
  const length = Number(file.readBigUInt64LE())
  const header = JSON.parse(file.toString('utf8', 8, 8 + length))
  const { dtype, data_offsets: offsets } = header[name]
  const data = file.subarray(8 + length + offsets[0], 8 + length + offsets[1])
  return dtype === 'U8' ? [...data] : Array.from({ length: data.length / 4 }, (_, i) => data.readInt32LE(4 * i))
}

test('the tasks of a data set become token shards with masks over the answers', async ({ folder }) => {
  const flags = ['--dataset', 'tasks', '--count', '8', '--shards', 'shards', '--model', demoModel()]
  const { exitCode, stderr } = await demonstrations(folder, ...flags, '--shard-size', '5')
  assert.equal(exitCode, 0, stderr)
  const starts: number[] = []
  for (const name of ['shard-00000.safetensors', 'shard-00001.safetensors']) {
    const file = await readFile(join(folder, 'shards', name))
    const [ids, mask, offsets] = ['ids', 'loss_mask', 'cu_seqlens'].map((tensor) => tensorOf(file, tensor))
    assert.equal(ids!.length, mask!.length)
    assert.equal(offsets!.at(-1), ids!.length)
    for (const [i, start] of offsets!.slice(0, -1).entries()) {
      assert.equal(mask![start], 0)
      assert.ok(mask!.slice(start, offsets![i + 1]).includes(1))
      starts.push(start)
    }
  }
  assert.equal(starts.length, 8)
})

test('a data set excludes the options of made tasks, and a missing one is named', async ({ folder }) => {
  const both = await demonstrations(folder, '--dataset', 'tasks', '--profile', 'paper', '--count', '2')
  assert.match(both.stderr, /'--dataset <folder>' cannot be used with option '--profile <name>'/)
  const missing = await demonstrations(folder, '--dataset', 'nowhere', '--count', '2')
  assert.equal(missing.exitCode, 2)
  assert.match(missing.stderr, /nowhere.*Name the folder of a complete data set/)
})

test.run()
