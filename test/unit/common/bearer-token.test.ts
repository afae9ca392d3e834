import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { areSameToken, bearerToken } from '../../../common/http/bearer-token.js'

test('the token is what follows the scheme, in any letter case of the scheme', () => {
  assert.is(bearerToken('Bearer abc'), 'abc')
  assert.is(bearerToken('bearer a b'), 'a b')
})

test('a header that is missing, empty or of another scheme has no token', () => {
  for (const header of [undefined, '', 'Bearer', 'Bearer ', 'Basic abc', 'xBearer abc'])
    assert.is(bearerToken(header), undefined, String(header))
})

test('tokens of any length are compared, and only equal ones are the same', () => {
  assert.ok(areSameToken('secret', 'secret'))
  for (const other of ['', 'secre', 'secrets', 'Secret', 's'.repeat(10_000)])
    assert.not.ok(areSameToken(other, 'secret'), other)
})

test.run()
