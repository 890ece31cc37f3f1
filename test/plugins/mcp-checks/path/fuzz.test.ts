import assert from 'node:assert/strict'
import { realpathSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { after, describe, it } from 'node:test'
import fc from 'fast-check'
import { path } from 'guard-gateway/plugins/mcp-checks/path'
import { loaded } from '../../../conformance/mcp-check.ts'
import { plantTree } from './tree.ts'

const tree = plantTree()
after(tree.remove)
const root = join(tree.base, 'app')

const segment = fc.constantFrom(
  ...[
    '..',
    '..',
    '..',
    '.',
    '',
    'src',
    'deep',
    'docs',
    'a.ts',
    '.env',
    'app',
    'app2',
    'outside',
    'in',
    'none',
    'config',
  ],
  ...['link-in', 'link-out', 'link-up', 'link-env', 'link-root', 'self', 'far', 'to-deep', 'there-and-back', 'escape'],
  ...[
    'chain-1',
    'chain-3',
    'dangling-out',
    'loop-1',
    'alias',
    '%2e%2e',
    '..%2f',
    '．．',
    ' ',
    '%252e%252e',
    '․․',
    'secret.txt',
  ],
)
const spelled = fc
  .tuple(fc.constantFrom('', '', '', '/', `${tree.base}/`, `${root}/`, ' ', '"'), fc.array(segment, { maxLength: 9 }))
  .map(([start, segments]) => start + segments.join('/'))

const real = (file: string): string | undefined => {
  try {
    return realpathSync.native(file)
  } catch {
    return undefined
  }
}

const servers: readonly (readonly [string, (text: string) => string])[] = [
  ['hands the text to the kernel', (text) => (text.startsWith('/') ? text : `${root}/${text}`)],
  ['normalises first', (text) => resolve(root, text)],
  ['trims and unquotes first', (text) => resolve(root, text.trim().replace(/^["']|["']$/g, ''))],
  ['decodes first', (text) => resolve(root, decodeURIComponent(text))],
  ['decodes twice', (text) => resolve(root, decodeURIComponent(decodeURIComponent(text)))],
  ['folds first', (text) => resolve(root, text.normalize('NFKC'))],
]

describe('path containment against a file system', () => {
  it('passes no path that leads out or to what is denied, whatever the server does to it', async () => {
    const find = await loaded(path, { args: ['/path'], inside: [root], deny: ['**/.env'] })
    let passed = 0
    await fc.assert(
      fc.asyncProperty(spelled, async (text) => {
        if ((await find({ path: text })).length > 0) return
        passed++
        for (const [way, open] of servers) {
          const place = real(open(text))
          if (place === undefined) continue
          assert.ok(place === root || place.startsWith(`${root}/`), `a server that ${way} opens ${place}`)
          assert.ok(!place.endsWith('/.env'), `a server that ${way} opens ${place}`)
        }
      }),
      { seed: 20_261_121, numRuns: 5000 },
    )
    assert.ok(passed > 500, `${passed} passed`)
  })
})
