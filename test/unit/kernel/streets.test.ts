import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { addressIn, CITIES, homeOf, parseAddress } from '../../../servers/kernel/gazetteer.js'
import { seededRandom } from '../../../servers/kernel/random.js'
import { streetsOf } from '../../../servers/kernel/streets.js'

test('every city has as many streets, no two alike, whose names can be typed and stand in an address', () => {
  for (const { city } of CITIES) {
    const streets = streetsOf(city)
    assert.is(streets.length, streetsOf('London').length, city)
    assert.is(new Set(streets.map((street) => street.toLowerCase())).size, streets.length, city)
    for (const street of streets) {
      assert.match(street, /^[A-Z][A-Za-z -]{2,38}$/)
      assert.equal(parseAddress(`7 ${street.toUpperCase()}, ${city}`)?.street, street)
    }
  }
})

test('streets are called as people call them where the city lies, and an address of one city is none in another', () => {
  assert.not.equal(streetsOf('Lisbon'), streetsOf('London'))
  assert.equal(streetsOf('Vienna'), streetsOf('Berlin'))
  for (let seed = 0; seed < 20; seed++) {
    const address = addressIn(seededRandom(seed), 'Warsaw')
    assert.ok(parseAddress(address), address)
    assert.is(parseAddress(address.replace('Warsaw', 'London')), undefined)
  }
})

test('where the user lives follows from the seed', () => {
  assert.is(homeOf(7), homeOf(7))
  const homes = new Set(Array.from({ length: 200 }, (_, seed) => homeOf(seed).city))
  assert.ok(homes.size > CITIES.length / 2)
})

test.run()
