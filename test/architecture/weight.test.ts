import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { circlesOf, code, filesBelow, importGraph, read, sources } from './sources.ts'

/** The most that there may be of each. A limit may fall, never rise: a commit that raises one says in its body what it replaces. */
const limits = {
  lines: 147_652,
  files: 1355,
  small_files_with_one_reader: 64,
  dynamic_imports: 237,
  json_scanners: 15,
  type_circles: 0,
  files_in_type_circles: 0,
}

const product = ['core', 'plugins', 'presets', 'build'].flatMap((folder) => filesBelow(folder, ['.ts', '.js']))

const linesOf = (file: string): number => read(file).split('\n').length - 1

/** Files below this many lines are small. */
const SMALL = 40

const smallWithOneReader = (): number => {
  const readers = new Map<string, number>()
  for (const targets of importGraph(sources).values())
    for (const target of new Set(targets)) readers.set(target, (readers.get(target) ?? 0) + 1)
  return product.filter((file) => readers.get(file) === 1 && linesOf(file) < SMALL).length
}

const occurrences = (pattern: RegExp): number =>
  product.reduce((sum, file) => sum + [...code(file).matchAll(pattern)].length, 0)

/** Rooms whose quotes are those of another language: shell, HTML, and whatever a secret may stand in. */
const OTHER_QUOTES = /^plugins\/(?:mcp-checks\/shell|lib\/html|redaction)\//

/** Compares what it reads with a quote at some place. */
const KNOWS_QUOTE = /(?:[!=]==|\bindexOf\() ?(?:QUOTE\b|0x22\b|'"')/

const jsonScanners = (): number =>
  product.filter((file) => !OTHER_QUOTES.test(file) && KNOWS_QUOTE.test(code(file))).length

describe('the weight of the product', () => {
  it('does not rise', (test) => {
    const circles = circlesOf(importGraph(product))
    const figures = {
      lines: product.reduce((sum, file) => sum + linesOf(file), 0),
      files: product.length,
      small_files_with_one_reader: smallWithOneReader(),
      dynamic_imports: occurrences(/(?<!typeof )\bimport\(/g),
      json_scanners: jsonScanners(),
      type_circles: circles.length,
      files_in_type_circles: circles.flat().length,
    }
    const all = JSON.stringify(figures)
    test.diagnostic(all)
    for (const [name, limit] of Object.entries(limits))
      assert.ok(figures[name as keyof typeof limits] <= limit, `${name} may be ${limit}; there are ${all}`)
  })
})
