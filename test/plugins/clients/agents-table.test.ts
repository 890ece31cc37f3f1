import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { profiles } from 'guard-gateway/plugins/clients'
import { agents } from '../../agents/clients/index.ts'

const page = readFileSync(new URL('../../../plugins/clients/README.md', import.meta.url), 'utf8')
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && line.split('|').length === 9)
  .map((line) => line.split(/ *\| */).slice(1, -1))
  .filter(([title]) => title !== 'Agent' && title !== '---')

test('the table of agents has a row for each profile, and says what its profile can do', () => {
  const clients = profiles.filter(({ commands }) => commands.length > 0)
  assert.deepEqual(rows.map(([title]) => title).toSorted(), clients.map(({ title }) => title).toSorted())
  for (const [title, run = '', setup = '', , block = '', , tried = ''] of rows) {
    const profile = clients.find((one) => one.title === title)
    assert.ok(profile !== undefined)
    assert.equal(run.startsWith('no: '), profile.launch === undefined, title)
    assert.equal(run === 'with `--model`', profile.run_needs_model !== undefined, title)
    assert.equal(setup === 'no', profile.impossible !== undefined, title)
    if (setup === 'yes') assert.ok(profile.needs_model !== true || profile.id === 'opencode', title)
    const version = profile.tested_with
    assert.equal(tried.split(',')[0], version ?? 'by its documentation', title)
    assert.equal(block === 'not tried' || block === '–', version === undefined, title)
  }
})

test('what was tried with real clients is what test:agents plays, in the version that it installs', () => {
  for (const [title, , , , , , tried = ''] of rows) {
    const id = profiles.find((one) => one.title === title)?.id
    const played = agents.find((agent) => agent.id === id && agent.has_profile !== undefined)
    assert.equal(tried.includes(', 20'), played !== undefined, title)
    if (played !== undefined) assert.ok(tried.startsWith(`${played.version}, `), title)
  }
})
