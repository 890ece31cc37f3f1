import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { read, root } from './documents.ts'

const file = 'plugins/COMPARISON.md'
const text = read(file)

/** Cells that claim nothing of others, or say that nothing was found. */
const PLAIN = /^(?:not (?:found|looked at)\b.*|no(?:, .*|; .*| gateway)?)$/

const rows = text
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
  .map((line) => line.slice(2, -2).split(' | '))

describe(file, () => {
  it('has a source in each cell, and the day on which they were looked at', () => {
    assert.match(text, /^Looked at on \d{4}-\d\d-\d\d/m)
    const projects = rows.filter(([name = '']) =>
      /^(?:Guard|LiteLLM|Portkey|Bifrost|agentgateway|Langfuse|Phoenix)/.test(name),
    )
    assert.equal(projects.length, 34)
    for (const [name = '', ...cells] of projects) {
      // of the first table the last cell is the source of the whole row
      const claims =
        cells.at(-1)?.startsWith('[README]') || cells.at(-1)?.startsWith('[clarifications]') ? cells.slice(-1) : cells
      for (const cell of claims) assert.ok(/\]\([^)]+\)/.test(cell) || PLAIN.test(cell), `${name}: ${cell}`)
    }
  })
  it('counts the detectors there are', () => {
    const detectors = readdirSync(join(root, 'plugins/detectors')).filter((name) => name.endsWith('.ts'))
    assert.match(text, new RegExp(`\\[yes, ${detectors.length} detectors\\]`))
  })
})
