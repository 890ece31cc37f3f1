;; Finds the long texts of a JSON value. Writes the value with a placeholder for each of them, which is parsed quickly, and the texts one
;; after another, unescaped, with white space collapsed and trimmed. Bytes that are no JSON are copied, so that the parser refuses them.
(module
  (memory (export "memory") 52)

  ;; the text that was read last
  (global $end (mut i32) (i32.const 0))     ;; the offset after its closing quote
  (global $escapes (mut i32) (i32.const 0)) ;; bytes that unescaping removes
  (global $plain (mut i32) (i32.const 0))   ;; 0 if it has escapes of more than one letter, or is no JSON
  (global $blanks (mut i32) (i32.const 0))  ;; escapes in its beginning

  ;; from offset 256 on, by letter: the byte that a backslash and this letter mean; 0 if they mean none
  (data (i32.const 0x122) "\22")
  (data (i32.const 0x12f) "/")
  (data (i32.const 0x15c) "\5c")
  (data (i32.const 0x162) "\08") ;; b
  (data (i32.const 0x166) "\0c") ;; f
  (data (i32.const 0x16e) "\0a") ;; n
  (data (i32.const 0x172) "\0d") ;; r
  (data (i32.const 0x174) "\09") ;; t

  (func $is_blank (param $byte i32) (result i32)
    (i32.or
      (i32.eq (local.get $byte) (i32.const 0x20))
      (i32.lt_u (i32.sub (local.get $byte) (i32.const 0x09)) (i32.const 5))))

  ;; writes the text whose first byte is at $at to $out; returns the end of the written bytes
  (func $text (param $at i32) (param $limit i32) (param $out i32) (result i32)
    (local $from i32) (local $gap i32) (local $bytes v128) (local $stops i32) (local $byte i32)
    (local.set $from (local.get $out))
    ;; leading white space is dropped, as is white space after white space
    (local.set $gap (i32.const 1))
    (global.set $escapes (i32.const 0))
    (global.set $plain (i32.const 1))
    (loop $next
      (if (i32.eqz (local.get $gap)) (then
        ;; copies sixteen bytes at a time, up to a quote, a backslash, a control character or a space after a space
        (loop $run
          (local.set $bytes (v128.load (local.get $at)))
          (v128.store (local.get $out) (local.get $bytes))
          (local.set $stops (i8x16.bitmask (v128.or
            (v128.or
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))
              (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x5c))))
            (v128.or
              (i8x16.eq (i8x16.min_u (local.get $bytes) (i8x16.splat (i32.const 0x1f))) (local.get $bytes))
              (v128.and
                (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x20)))
                (i8x16.eq (v128.load (i32.sub (local.get $at) (i32.const 1))) (i8x16.splat (i32.const 0x20))))))))
          (if (i32.and (i32.eqz (local.get $stops)) (i32.lt_u (local.get $at) (local.get $limit))) (then
            (local.set $at (i32.add (local.get $at) (i32.const 16)))
            (local.set $out (i32.add (local.get $out) (i32.const 16)))
            (br $run))))
        (local.set $stops (i32.ctz (local.get $stops)))
        (local.set $at (i32.add (local.get $at) (local.get $stops)))
        (local.set $out (i32.add (local.get $out) (local.get $stops)))
        (local.set $gap (i32.eq (i32.load8_u (i32.sub (local.get $out) (i32.const 1))) (i32.const 0x20)))))
      (if (i32.ge_u (local.get $at) (local.get $limit)) (then
        (global.set $plain (i32.const 0))
        (global.set $end (local.get $limit))
        (return (local.get $out))))
      (local.set $byte (i32.load8_u (local.get $at)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (if (i32.eq (local.get $byte) (i32.const 0x22)) (then
        (global.set $end (local.get $at))
        (return (i32.sub (local.get $out)
          (i32.and (local.get $gap) (i32.gt_u (local.get $out) (local.get $from)))))))
      (if (i32.lt_u (local.get $byte) (i32.const 0x20)) (then (global.set $plain (i32.const 0))))
      (if (i32.eq (local.get $byte) (i32.const 0x5c)) (then
        (local.set $byte (i32.load8_u offset=0x100 (i32.load8_u (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (global.set $escapes (i32.add (global.get $escapes) (i32.const 1)))
        (if (i32.eqz (local.get $byte)) (then (global.set $plain (i32.const 0))))))
      (if (call $is_blank (local.get $byte))
        (then
          (br_if $next (local.get $gap))
          (local.set $byte (i32.const 0x20))
          (local.set $gap (i32.const 1)))
        (else (local.set $gap (i32.const 0))))
      (i32.store8 (local.get $out) (local.get $byte))
      (local.set $out (i32.add (local.get $out) (i32.const 1)))
      (br $next))
    (unreachable))

  ;; the end of a text's beginning: white space, and up to 32 ASCII characters after it
  (func $beginning (param $at i32) (result i32)
    (local $byte i32) (local $said i32)
    (global.set $blanks (i32.const 0))
    (block $said (loop $blank
      (local.set $byte (i32.load8_u (local.get $at)))
      (if (i32.eq (local.get $byte) (i32.const 0x20)) (then
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br $blank)))
      (br_if $said (i32.ne (local.get $byte) (i32.const 0x5c)))
      (br_if $said (i32.eqz (call $is_blank (i32.load8_u offset=0x100 (i32.load8_u offset=1 (local.get $at))))))
      (global.set $blanks (i32.add (global.get $blanks) (i32.const 1)))
      (local.set $at (i32.add (local.get $at) (i32.const 2)))
      (br $blank)))
    (local.set $said (call $said (local.get $at)))
    (if (i32.eq (local.get $said) (i32.const 16)) (then
      (local.set $said (i32.add (local.get $said) (call $said (i32.add (local.get $at) (i32.const 16)))))))
    (i32.add (local.get $at) (local.get $said)))

  ;; how many of sixteen bytes precede the first quote, backslash or byte beyond ASCII
  (func $said (param $at i32) (result i32)
    (local $bytes v128)
    (local.set $bytes (v128.load (local.get $at)))
    (i32.ctz (i32.or (i32.const 0x10000) (i32.or
      (i8x16.bitmask (local.get $bytes))
      (i8x16.bitmask (v128.or
        (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x22)))
        (i8x16.eq (local.get $bytes) (i8x16.splat (i32.const 0x5c)))))))))

  ;; whether the string that ends at $at is the name of a member
  (func $is_name (param $at i32) (result i32)
    (local $byte i32)
    (loop $blank
      (local.set $byte (i32.load8_u (local.get $at)))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br_if $blank (call $is_blank (local.get $byte))))
    (i32.eq (local.get $byte) (i32.const 0x3a)))

  ;; whether a text begins with data: (API styles search the comma of such an address)
  (func $is_data (param $at i32) (result i32)
    (i32.and
      (i32.eq (i32.load (local.get $at)) (i32.const 0x61746164))
      (i32.eq (i32.load8_u offset=4 (local.get $at)) (i32.const 0x3a))))

  ;; finds the quotes that begin and end strings, sixty-four bytes at a time
  (global $block (mut i32) (i32.const 0))    ;; the offset of the last block that was searched
  (global $quotes (mut i64) (i64.const 0))   ;; a bit for each quote of the block that was not returned yet
  (global $escaping (mut i64) (i64.const 0)) ;; 1 if the byte after the block is escaped

  (func $bits (param $at i32) (param $byte v128) (result i64)
    (i64.or
      (i64.or
        (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (v128.load (local.get $at)) (local.get $byte))))
        (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (v128.load offset=16 (local.get $at)) (local.get $byte))))
          (i64.const 16)))
      (i64.or
        (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (v128.load offset=32 (local.get $at)) (local.get $byte))))
          (i64.const 32))
        (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (v128.load offset=48 (local.get $at)) (local.get $byte))))
          (i64.const 48)))))

  ;; the bytes that the backslashes of a block escape: those after runs of an odd number, found by the carries of an addition
  (func $escaped (param $backslashes i64) (result i64)
    (local $behind i64) (local $odd i64) (local $runs i64)
    (local.set $backslashes (i64.and (local.get $backslashes) (i64.xor (global.get $escaping) (i64.const -1))))
    (local.set $behind (i64.or (i64.shl (local.get $backslashes) (i64.const 1)) (global.get $escaping)))
    (local.set $odd (i64.and (i64.and (local.get $backslashes) (i64.const 0xaaaaaaaaaaaaaaaa))
      (i64.xor (local.get $behind) (i64.const -1))))
    (local.set $runs (i64.add (local.get $odd) (local.get $backslashes)))
    (global.set $escaping (i64.extend_i32_u (i64.lt_u (local.get $runs) (local.get $odd))))
    (i64.and (local.get $behind) (i64.xor (i64.const 0x5555555555555555) (i64.shl (local.get $runs) (i64.const 1)))))

  ;; the offset of the next quote, or one from $limit on
  (func $quote (param $limit i32) (result i32)
    (local $found i64)
    (loop $step
      (if (i64.eqz (global.get $quotes)) (then
        (global.set $block (i32.add (global.get $block) (i32.const 64)))
        (if (i32.ge_u (global.get $block) (local.get $limit)) (then (return (local.get $limit))))
        (global.set $quotes (call $bits (global.get $block) (i8x16.splat (i32.const 0x22))))
        (global.set $quotes (i64.and (global.get $quotes) (i64.xor (i64.const -1)
          (call $escaped (call $bits (global.get $block) (i8x16.splat (i32.const 0x5c)))))))
        (br $step))))
    (local.set $found (global.get $quotes))
    (global.set $quotes (i64.and (local.get $found) (i64.sub (local.get $found) (i64.const 1))))
    (i32.add (global.get $block) (i32.wrap_i64 (i64.ctz (local.get $found)))))

  ;; Scans the JSON from $at to $limit. Texts of $long bytes and more are written to $out; the JSON is written to $json, with the
  ;; $marked bytes at $mark and four letters for a number instead of all but the beginning of each. Writes a row of six numbers at $rows
  ;; for each text: start of its rest and its end, both in the JSON; start and end of the written text; its length and that of its
  ;; beginning, both unescaped. Returns the end of the written JSON. The number of rows precedes the rows.
  (func (export "scan") (param $at i32) (param $limit i32) (param $long i32) (param $mark i32) (param $marked i32)
                        (param $json i32) (param $out i32) (param $rows i32) (result i32)
    (local $copied i32) (local $start i32) (local $rest i32) (local $to i32) (local $count i32) (local $row i32)
    (local.set $copied (local.get $at))
    (local.set $row (i32.add (local.get $rows) (i32.const 4)))
    (global.set $block (i32.sub (local.get $at) (i32.const 64)))
    (global.set $quotes (i64.const 0))
    (global.set $escaping (i64.const 0))
    (block $over (loop $next
      (local.set $start (i32.add (call $quote (local.get $limit)) (i32.const 1)))
      (local.set $at (call $quote (local.get $limit)))
      (br_if $over (i32.ge_u (local.get $at) (local.get $limit)))
      (br_if $next (i32.lt_u (i32.sub (local.get $at) (local.get $start)) (local.get $long)))
      (local.set $to (call $text (local.get $start) (local.get $limit) (local.get $out)))
      (br_if $next (i32.eqz (global.get $plain)))
      (local.set $at (global.get $end))
      (local.set $rest (call $beginning (local.get $start)))
      ;; the written JSON must not become longer
      (br_if $next (i32.lt_s (i32.sub (local.get $at) (local.get $rest)) (i32.const 64)))
      (br_if $next (i32.or (call $is_name (local.get $at)) (call $is_data (local.get $start))))

      (i32.store (local.get $row) (local.get $rest))
      (i32.store offset=4 (local.get $row) (i32.sub (local.get $at) (i32.const 1)))
      (i32.store offset=8 (local.get $row) (local.get $out))
      (i32.store offset=12 (local.get $row) (local.get $to))
      (i32.store offset=16 (local.get $row)
        (i32.sub (i32.sub (local.get $at) (i32.const 1)) (i32.add (local.get $start) (global.get $escapes))))
      (i32.store offset=20 (local.get $row)
        (i32.sub (i32.sub (local.get $rest) (local.get $start)) (global.get $blanks)))

      (local.set $json (call $copied (local.get $copied) (local.get $rest) (local.get $json)))
      (local.set $json (call $copied (local.get $mark) (i32.add (local.get $mark) (local.get $marked)) (local.get $json)))
      (i32.store (local.get $json) (call $letters (local.get $count)))
      (local.set $json (i32.add (local.get $json) (i32.const 4)))
      (local.set $copied (i32.sub (local.get $at) (i32.const 1)))

      (local.set $out (local.get $to))
      (local.set $row (i32.add (local.get $row) (i32.const 24)))
      (local.set $count (i32.add (local.get $count) (i32.const 1)))
      (br $next)))
    (i32.store (local.get $rows) (local.get $count))
    (call $copied (local.get $copied) (local.get $limit) (local.get $json)))

  ;; copies the bytes from $at to $end to $to, and up to fifteen more; returns the end without those
  (func $copied (param $at i32) (param $end i32) (param $to i32) (result i32)
    (loop $next
      (if (i32.lt_u (local.get $at) (local.get $end)) (then
        (v128.store (local.get $to) (v128.load (local.get $at)))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (local.set $to (i32.add (local.get $to) (i32.const 16)))
        (br $next))))
    (i32.add (local.get $to) (i32.sub (local.get $end) (local.get $at))))

  ;; a number below 65,536 as four letters from a to p, the last four bits first
  (func $letters (param $number i32) (result i32)
    (i32.add (i32.const 0x61616161) (i32.or
      (i32.or
        (i32.and (local.get $number) (i32.const 0x0f))
        (i32.shl (i32.and (local.get $number) (i32.const 0xf0)) (i32.const 4)))
      (i32.or
        (i32.shl (i32.and (local.get $number) (i32.const 0xf00)) (i32.const 8))
        (i32.shl (i32.and (local.get $number) (i32.const 0xf000)) (i32.const 12))))))
)
