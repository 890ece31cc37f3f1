import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Gateway } from 'guard-gateway/core'
import { followGuide } from '../kit/guide.ts'

followGuide({
  readme: 'plugins/HOOKS.md',
  example: 'custom-hook',
  tests: 1,
  plugin: 'allowed-models',
})

test('the guide to hooks names every hook, and none that there is not', () => {
  const guide = readFileSync(join(import.meta.dirname, '../../plugins/HOOKS.md'), 'utf8')
  const rows = [...guide.matchAll(/^\| ((?:`\w+` ?)+)\|/gm)].map(([, names = '']) => names)
  const named = rows.flatMap((names) => [...names.matchAll(/`(\w+)`/g)].map(([, name]) => name))
  assert.deepEqual(named.toSorted(), Object.keys(new Gateway().hooks).toSorted())
})
