;; Finds the tokens whose hash under a draw (gumbel-max.ts) is large, four at a time: for every sampled token, the hashes of the
;; whole vocabulary are computed.
;;
;; Memory: from 0 on, one i32 for each token of the vocabulary, its contribution to the hash, rotated left by 13 bits; then padding
;; up to a multiple of four; then space for as many found tokens, as i32.
(module
  (memory (import "candidates" "memory") 1)

  ;; $state  the hash state of the draw
  ;; $least  the smallest wanted hash, unsigned
  ;; $end    bytes of the tokens' contributions
  ;; Writes the tokens in ascending order from $end on, and returns their number.
  (func (export "find") (param $state i32) (param $least i32) (param $end i32) (result i32)
    (local $states v128) (local $leasts v128) (local $word v128)
    (local $at i32) (local $lanes i32) (local $found i32)
    ;; h = rotl(state ^ block, 13), which is rotl(state, 13) ^ rotl(block, 13): this saves a rotation for each token.
    (local.set $states (i32x4.splat (i32.rotl (local.get $state) (i32.const 13))))
    (local.set $leasts (i32x4.splat (local.get $least)))
    (local.set $found (local.get $end))
    (loop $tokens
      (local.set $word (v128.xor (local.get $states) (v128.load (local.get $at))))
      ;; 5 h + c, by shift and sum, because products of SIMD lanes are slow
      (local.set $word (i32x4.add (i32x4.add (i32x4.shl (local.get $word) (i32.const 2)) (local.get $word))
        (v128.const i32x4 0xe6546b64 0xe6546b64 0xe6546b64 0xe6546b64)))
      (local.set $word (v128.xor (local.get $word) (v128.const i32x4 8 8 8 8)))
      (local.set $word (i32x4.mul (v128.xor (local.get $word) (i32x4.shr_u (local.get $word) (i32.const 16)))
        (v128.const i32x4 0x85ebca6b 0x85ebca6b 0x85ebca6b 0x85ebca6b)))
      (local.set $word (i32x4.mul (v128.xor (local.get $word) (i32x4.shr_u (local.get $word) (i32.const 13)))
        (v128.const i32x4 0xc2b2ae35 0xc2b2ae35 0xc2b2ae35 0xc2b2ae35)))
      (local.set $word (v128.xor (local.get $word) (i32x4.shr_u (local.get $word) (i32.const 16))))
      ;; In a large vocabulary, one token in 140 is wanted, so most vectors of four have none.
      (if (local.tee $lanes (i32x4.bitmask (i32x4.ge_u (local.get $word) (local.get $leasts))))
        (then
          (loop $wanted
            (i32.store (local.get $found)
              (i32.add (i32.shr_u (local.get $at) (i32.const 2)) (i32.ctz (local.get $lanes))))
            (local.set $found (i32.add (local.get $found) (i32.const 4)))
            (br_if $wanted
              (local.tee $lanes (i32.and (local.get $lanes) (i32.sub (local.get $lanes) (i32.const 1))))))))
      (br_if $tokens (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 16))) (local.get $end))))
    (i32.shr_u (i32.sub (local.get $found) (local.get $end)) (i32.const 2))))
