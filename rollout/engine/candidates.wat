;; Finds the tokens whose word under a draw (draw.ts) is large, four at a time: the words of a whole vocabulary are computed for
;; every token that is sampled.
;;
;; Memory: from 0 on, one i32 for each token of the vocabulary, what it contributes to the hash, turned left by 13 bits; as
;; much as makes their number a multiple of four; and then room for as many tokens, as i32.
(module
  (memory (import "candidates" "memory") 1)

  ;; $row   what the draw contributes to the hash
  ;; $line  the least word that is wanted, unsigned
  ;; $end   bytes of what the tokens contribute
  ;; Writes the tokens in ascending order from $end on, and returns how many.
  (func (export "find") (param $row i32) (param $line i32) (param $end i32) (result i32)
    (local $rows v128) (local $lines v128) (local $word v128)
    (local $at i32) (local $lanes i32) (local $found i32)
    ;; h = rotl(row ^ block, 13), which is rotl(row, 13) ^ rotl(block, 13): that spares a rotation for each token.
    (local.set $rows (i32x4.splat (i32.rotl (local.get $row) (i32.const 13))))
    (local.set $lines (i32x4.splat (local.get $line)))
    (local.set $found (local.get $end))
    (loop $tokens
      (local.set $word (v128.xor (local.get $rows) (v128.load (local.get $at))))
      ;; 5 h + c; by shift and sum, because products of lanes are slow
      (local.set $word (i32x4.add (i32x4.add (i32x4.shl (local.get $word) (i32.const 2)) (local.get $word))
        (v128.const i32x4 0xe6546b64 0xe6546b64 0xe6546b64 0xe6546b64)))
      (local.set $word (v128.xor (local.get $word) (v128.const i32x4 8 8 8 8)))
      (local.set $word (i32x4.mul (v128.xor (local.get $word) (i32x4.shr_u (local.get $word) (i32.const 16)))
        (v128.const i32x4 0x85ebca6b 0x85ebca6b 0x85ebca6b 0x85ebca6b)))
      (local.set $word (i32x4.mul (v128.xor (local.get $word) (i32x4.shr_u (local.get $word) (i32.const 13)))
        (v128.const i32x4 0xc2b2ae35 0xc2b2ae35 0xc2b2ae35 0xc2b2ae35)))
      (local.set $word (v128.xor (local.get $word) (i32x4.shr_u (local.get $word) (i32.const 16))))
      ;; Of a large vocabulary one in 140 is wanted, so most fours have none.
      (if (local.tee $lanes (i32x4.bitmask (i32x4.ge_u (local.get $word) (local.get $lines))))
        (then
          (loop $wanted
            (i32.store (local.get $found)
              (i32.add (i32.shr_u (local.get $at) (i32.const 2)) (i32.ctz (local.get $lanes))))
            (local.set $found (i32.add (local.get $found) (i32.const 4)))
            (br_if $wanted
              (local.tee $lanes (i32.and (local.get $lanes) (i32.sub (local.get $lanes) (i32.const 1))))))))
      (br_if $tokens (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 16))) (local.get $end))))
    (i32.shr_u (i32.sub (local.get $found) (local.get $end)) (i32.const 2))))
