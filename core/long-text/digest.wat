;; The digest of a text: MurmurHash3 (x64, 128 bits), then that as the key of ChaCha20 (RFC 8439) twice over, of whose stream it is
;; the first sixteen bytes. Murmur tells texts apart, and ChaCha keeps it from being calculated back to what is not known of a text.
(module
  (memory (export "memory") 57)

  ;; writes the digest of $length bytes at $at to $to as 32 hex digits; sixteen bytes behind the text are written over
  (func $digest (export "digest") (param $at i32) (param $length i32) (param $to i32)
    (local $h1 i64) (local $h2 i64) (local $end i32)
    (v128.store (i32.add (local.get $at) (local.get $length)) (v128.const i64x2 0 0))
    (local.set $end (i32.add (local.get $at) (i32.and (local.get $length) (i32.const -16))))
    (block $rest (loop $next
      (br_if $rest (i32.ge_u (local.get $at) (local.get $end)))
      (local.set $h1 (i64.xor (local.get $h1) (call $first (i64.load (local.get $at)))))
      (local.set $h1 (i64.add (i64.rotl (local.get $h1) (i64.const 27)) (local.get $h2)))
      (local.set $h1 (i64.add (i64.mul (local.get $h1) (i64.const 5)) (i64.const 0x52dce729)))
      (local.set $h2 (i64.xor (local.get $h2) (call $second (i64.load offset=8 (local.get $at)))))
      (local.set $h2 (i64.add (i64.rotl (local.get $h2) (i64.const 31)) (local.get $h1)))
      (local.set $h2 (i64.add (i64.mul (local.get $h2) (i64.const 5)) (i64.const 0x38495ab5)))
      (local.set $at (i32.add (local.get $at) (i32.const 16)))
      (br $next)))
    ;; less than sixteen bytes are left, and zeros change nothing
    (local.set $h1 (i64.xor (local.get $h1) (call $first (i64.load (local.get $at)))))
    (local.set $h2 (i64.xor (local.get $h2) (call $second (i64.load offset=8 (local.get $at)))))
    (local.set $h1 (i64.xor (local.get $h1) (i64.extend_i32_u (local.get $length))))
    (local.set $h2 (i64.xor (local.get $h2) (i64.extend_i32_u (local.get $length))))
    (local.set $h1 (i64.add (local.get $h1) (local.get $h2)))
    (local.set $h2 (call $mixed (i64.add (local.get $h1) (local.get $h2))))
    (local.set $h1 (i64.add (call $mixed (local.get $h1)) (local.get $h2)))
    (call $hex (local.get $to) (call $sealed
      (i64x2.replace_lane 1 (i64x2.splat (local.get $h1)) (i64.add (local.get $h1) (local.get $h2))))))

  (func $first (param $bytes i64) (result i64)
    (i64.mul (i64.rotl (i64.mul (local.get $bytes) (i64.const 0x87c37b91114253d5)) (i64.const 31))
      (i64.const 0x4cf5ad432745937f)))

  (func $second (param $bytes i64) (result i64)
    (i64.mul (i64.rotl (i64.mul (local.get $bytes) (i64.const 0x4cf5ad432745937f)) (i64.const 33))
      (i64.const 0x87c37b91114253d5)))

  (func $mixed (param $h i64) (result i64)
    (local.set $h (i64.mul (i64.xor (local.get $h) (i64.shr_u (local.get $h) (i64.const 33))) (i64.const 0xff51afd7ed558ccd)))
    (local.set $h (i64.mul (i64.xor (local.get $h) (i64.shr_u (local.get $h) (i64.const 33))) (i64.const 0xc4ceb9fe1a85ec53)))
    (i64.xor (local.get $h) (i64.shr_u (local.get $h) (i64.const 33))))

  ;; the first sixteen bytes of the stream of this key, block and nonce 0
  (func $sealed (param $key v128) (result v128)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128) (local $rounds i32)
    (local $one v128) (local $three v128) (local $other v128)
    (local.set $a (v128.const i32x4 0x61707865 0x3320646e 0x79622d32 0x6b206574))
    (local.set $b (local.get $key))
    (local.set $c (local.get $key))
    ;; rows turn by one, two and three words before a round along diagonals, and back behind it
    (local.set $one (v128.const i8x16 4 5 6 7 8 9 10 11 12 13 14 15 0 1 2 3))
    (local.set $three (v128.const i8x16 12 13 14 15 0 1 2 3 4 5 6 7 8 9 10 11))
    (local.set $rounds (i32.const 20))
    (loop $round
      (local.set $a (i32x4.add (local.get $a) (local.get $b)))
      (local.set $d (v128.xor (local.get $d) (local.get $a)))
      (local.set $d (i8x16.shuffle 2 3 0 1 6 7 4 5 10 11 8 9 14 15 12 13 (local.get $d) (local.get $d)))
      (local.set $c (i32x4.add (local.get $c) (local.get $d)))
      (local.set $b (v128.xor (local.get $b) (local.get $c)))
      (local.set $b (v128.or
        (i32x4.shl (local.get $b) (i32.const 12)) (i32x4.shr_u (local.get $b) (i32.const 20))))
      (local.set $a (i32x4.add (local.get $a) (local.get $b)))
      (local.set $d (v128.xor (local.get $d) (local.get $a)))
      (local.set $d (i8x16.shuffle 3 0 1 2 7 4 5 6 11 8 9 10 15 12 13 14 (local.get $d) (local.get $d)))
      (local.set $c (i32x4.add (local.get $c) (local.get $d)))
      (local.set $b (v128.xor (local.get $b) (local.get $c)))
      (local.set $b (v128.or
        (i32x4.shl (local.get $b) (i32.const 7)) (i32x4.shr_u (local.get $b) (i32.const 25))))
      (local.set $b (i8x16.swizzle (local.get $b) (local.get $one)))
      (local.set $c (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $c) (local.get $c)))
      (local.set $d (i8x16.swizzle (local.get $d) (local.get $three)))
      (local.set $other (local.get $one))
      (local.set $one (local.get $three))
      (local.set $three (local.get $other))
      (br_if $round (local.tee $rounds (i32.sub (local.get $rounds) (i32.const 1)))))
    (i32x4.add (local.get $a) (v128.const i32x4 0x61707865 0x3320646e 0x79622d32 0x6b206574)))

  ;; writes sixteen bytes to $to as hex digits
  (func $hex (param $to i32) (param $bytes v128)
    (local $high v128) (local $low v128)
    (local.set $high (i8x16.shr_u (local.get $bytes) (i32.const 4)))
    (local.set $low (v128.and (local.get $bytes) (i8x16.splat (i32.const 0x0f))))
    (v128.store (local.get $to) (call $digits
      (i8x16.shuffle 0 16 1 17 2 18 3 19 4 20 5 21 6 22 7 23 (local.get $high) (local.get $low))))
    (v128.store offset=16 (local.get $to) (call $digits
      (i8x16.shuffle 8 24 9 25 10 26 11 27 12 28 13 29 14 30 15 31 (local.get $high) (local.get $low)))))

  (func $digits (param $values v128) (result v128)
    (i8x16.swizzle
      (v128.const i8x16 0x30 0x31 0x32 0x33 0x34 0x35 0x36 0x37 0x38 0x39 0x61 0x62 0x63 0x64 0x65 0x66)
      (local.get $values)))
)
