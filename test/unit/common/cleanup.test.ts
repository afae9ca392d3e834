import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createCleanUp } from '../../../common/cleanup/index.js'

test('steps run in reverse order, once', async () => {
  const ran: string[] = []
  const cleanUp = createCleanUp()
  cleanUp.add(() => ran.push('first'))
  cleanUp.add(async () => ran.push('second'))
  await cleanUp.close()
  await cleanUp.close()
  assert.equal(ran, ['second', 'first'])
})

test('all steps run even if one fails, and its error is thrown', async () => {
  const ran: string[] = []
  const cleanUp = createCleanUp()
  cleanUp.add(() => ran.push('first'))
  cleanUp.add(() => {
    throw new Error('stuck')
  })
  cleanUp.add(() => ran.push('third'))
  const error = await cleanUp.close().catch((why: Error) => why)
  assert.is((error as Error).message, 'stuck')
  assert.equal(ran, ['third', 'first'])
})

test.run()
