/** Conversions of 16-bit floats: IEEE binary16, and bfloat16, the upper half of a binary32. */

const scratch = new Float32Array(1)
const bitsOf = new Uint32Array(scratch.buffer)

const HALF_VALUES = Float32Array.from({ length: 2 ** 16 }, (_, bits) => {
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >>> 10) & 0x1f, bits & 0x3ff]
  if (exponent === 0x1f) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
})

export const fromHalf = (bits: number): number => HALF_VALUES[bits]!

/** Rounds a float32 to the nearest half, ties to even; infinite from 65,520 on. */
export function toHalf(value: number): number {
  scratch[0] = value
  const sign = (bitsOf[0]! >>> 16) & 0x8000
  const magnitude = bitsOf[0]! & 0x7fffffff
  if (magnitude > 0x7f800000) return sign | 0x7e00
  if (magnitude >= 0x477ff000) return sign | 0x7c00
  if (magnitude < 0x38800000) {
    // Near 0.5, a float32 has the resolution of the smallest halves: the addition rounds.
    scratch[0] = Math.abs(value) + 0.5
    return sign | (bitsOf[0]! - 0x3f000000)
  }
  const roundedUp = 0xfff + ((magnitude >>> 13) & 1)
  return sign | ((magnitude - (112 << 23) + roundedUp) >>> 13)
}

export function fromBfloat(bits: number): number {
  bitsOf[0] = bits << 16
  return scratch[0]!
}

/** Rounds a finite float32 to the nearest bfloat16, ties to even. */
export function toBfloat(value: number): number {
  scratch[0] = value
  const bits = bitsOf[0]!
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16
}
