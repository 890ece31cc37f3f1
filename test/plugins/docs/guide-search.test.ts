import assert from 'node:assert/strict'
import { test } from 'node:test'
import { html } from '#lib/html'
import { indexOf } from '../../../plugins/docs/guide/search.ts'

const leaf = (slug: string, group: string) => ({
  slug,
  group,
  title: slug,
  main: html``,
  sections: [{ id: 'h-first', depth: 1, title: 'Budgets', text: 'A budget of tokens.' }],
})

test('of parts with the same words, those that say how to do something come first, and those about the inside last', async () => {
  const search = await indexOf([
    leaf('memory', 'Inside'),
    leaf('rules', 'Reference'),
    leaf('concepts', 'Start'),
    leaf('spend', 'How to'),
  ])
  assert.deepEqual(
    search('budget', 10).map(({ slug }) => slug),
    ['spend', 'concepts', 'rules', 'memory'],
  )
})
