import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { onEachBackend } from '../../kit/backends.ts'
import { type Route, routesOf } from './routes.ts'
import { MARKER, OTHER, OWN, type TwoTeams, twoTeams } from './two-teams.ts'

const ABSENT = 'quaggafis'

/** Which things the parameters of a route name. */
const kinds: readonly (readonly [RegExp, string])[] = [
  [/^\/(?:api\/)?(?:export\/)?sessions\/:id/, ':session_id'],
  [/:external_id/, ':external_id'],
  [/^\/(?:api\/)?agents\/:id/, ':agent'],
  [/approvals\/:id/, ':approval'],
  [/drafts\/:id/, ':server'],
  [/:trace_id/, ':trace_id'],
  [/:project_id/, ':project_id'],
]
/** Routes that have no project, as descriptions have none, and those that never end. */
const others =
  /^\/(?:docs|v1\/|models|mcp\/:|ui\/|login|api\/v1\/stream|api\/v1\/mcp\/servers\/:id\/login|api\/v1\/playground\/runs\/|playground\/runs\/|api\/agent-runs)/

/** What those who may see a thing get. The calls of the teams have no arguments on record, which a rule is made of, and their servers no tools. */
const answers: Readonly<Record<string, number>> = { '/api/v1/mcp/approvals/:id/rule': 409, '/drafts/:id': 404 }
const statusOf = (url: string): number => answers[url] ?? (url.endsWith('/') ? 308 : 200)

const count = (text: string, word: string): number => text.split(word).length - 1

/** What shows something of every project to those who see all. */
const telling = [
  '/api/sessions',
  '/api/agents',
  '/api/budgets',
  '/api/export/aggregates.csv',
  '/api/v1/figures?step=hour&group=project',
  '/api/v1/figures?step=hour&group=agent',
  '/api/v1/report',
  '/api/v1/runs',
  '/api/v1/mcp/events',
  '/api/v1/mcp/approvals',
  '/api/v1/mcp/export',
  '/api/notify',
  '/api/keys',
  '/api/v1/audit',
  '/',
  '/sessions',
  '/agents',
  '/policies',
  '/replay',
  '/mcp',
  '/notify',
]

for (const first of ['nobody', 'those who see all'] as const)
  onEachBackend(`a key that is bound to a project, after ${first} have looked`, (backend) => {
    let teams: TwoTeams
    let routes: readonly Route[] = []
    let key = ''
    let admin = ''
    before(async () => {
      teams = await twoTeams(backend)
      routes = (await routesOf()).filter(({ method, url }) => method === 'GET' && !others.test(url))
      key = (await teams.key(['admin'], [OWN], 'own')).key
      admin = (await teams.key(['admin'], undefined, 'all')).key
      if (first !== 'nobody') await seesAll()
    })
    after(() => teams[Symbol.asyncDispose]())

    const get = (path: string, by = key) => teams.ask(path, { key: by, headers: { accept: 'text/html, */*' } })
    const plain = () => routes.filter(({ url }) => !url.includes(':'))
    const named = () => routes.filter(({ url }) => url.includes(':'))
    const idsFor = (url: string, ids: TwoTeams['others']): readonly string[] => {
      const kind = kinds.find(([pattern]) => pattern.test(url))?.[1]
      assert.ok(kind !== undefined, `say what the parameter of ${url} names`)
      return ids[kind] ?? []
    }
    const things = (ids: TwoTeams['others']) =>
      named().flatMap(({ url }) => idsFor(url, ids).map((id) => ({ url, id })))
    const filled = (url: string, id: string) => url.replace(/:\w+/, encodeURIComponent(id))

    const seesAll = async (): Promise<void> => {
      for (const { url } of plain()) await get(url, admin)
      for (const path of telling) {
        const { text } = await get(path, admin)
        assert.ok(text.includes(MARKER) && /alpha|ocelot/.test(text), `${path}: ${text}`)
      }
      for (const { url, id } of things(teams.others)) {
        const { status, text } = await get(filled(url, id), admin)
        assert.equal(status, statusOf(url), `${filled(url, id)}: ${text}`)
      }
    }
    const seesNothing = async (): Promise<void> => {
      const paths = plain().flatMap(({ url }) => ['', '?limit=200', '?since=30d'].map((query) => url + query))
      for (const path of [...paths, ...telling]) {
        const { status, text } = await get(path)
        assert.ok(status < 500, `${path}: ${status} ${text}`)
        assert.ok(!text.includes(MARKER), `${path}: ${around(text)}`)
      }
    }
    const findsNothing = async (): Promise<void> => {
      for (const { url } of plain())
        for (const query of queries) {
          const [found, none] = await Promise.all([
            get(url + query(MARKER, OTHER)),
            get(url + query(ABSENT, `bravo-${ABSENT}`)),
          ])
          assert.equal(found.status, none.status, url + query(MARKER, OTHER))
          // what was typed is shown again, and no more
          assert.equal(
            count(found.text, MARKER),
            count(none.text, ABSENT),
            `${url}${query(MARKER, OTHER)}: ${around(found.text)}`,
          )
        }
    }
    const getsNothing = async (): Promise<void> => {
      for (const { url, id } of things(teams.others)) {
        const path = filled(url, id)
        const found = await get(path)
        const none = await get(filled(url, id.includes(MARKER) ? id.replace(MARKER, ABSENT) : `${id.slice(0, -3)}zzz`))
        const expected = url.endsWith('/') ? 308 : 404
        assert.equal(found.status, expected, `${path}: ${found.text}`)
        assert.equal(none.status, expected, path)
        assert.equal(count(found.text, MARKER), count(none.text, ABSENT), `${path}: ${around(found.text)}`)
      }
    }

    it('sees nothing of another project', seesNothing)
    it('finds nothing of it', findsNothing)
    it('gets nothing of it by its id', getsNothing)
    it('takes nothing from those who see all of it', seesAll)
    it('sees, finds and gets nothing of it after others have looked', async () => {
      await seesNothing()
      await findsNothing()
      await getsNothing()
    })
    it('sees all of its own', async () => {
      for (const { url } of named().filter((route) => !route.url.endsWith('/')))
        for (const id of idsFor(url, teams.own)) {
          const { status, text } = await get(filled(url, id))
          assert.equal(status, statusOf(url), `${filled(url, id)}: ${text}`)
        }
      for (const path of telling) assert.match((await get(path)).text, /alpha|ocelot/, path)
    })
  })

const queries: readonly ((word: string, project: string) => string)[] = [
  (word) => `?q=${word}`,
  (_word, project) => `?project_id=${project}`,
  (_word, project) => `?project=${project}`,
  (word) => `?agent_id=agent-${word}`,
  (word) => `?agent=agent-${word}`,
  (word) => `?external_id=session-${word}`,
  (word) => `?q=session-${word}`,
  (word) => `?q=agent-${word}`,
  (_word, project) => `?q=${project}`,
]

const around = (text: string): string => {
  const at = text.indexOf(MARKER)
  return text.slice(Math.max(0, at - 200), at + 120)
}
