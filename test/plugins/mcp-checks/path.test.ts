import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { after, before, describe, it, mock } from 'node:test'
import { path } from 'guard-gateway/plugins/mcp-checks/path'
import { loaded, mcpCheckConforms } from '../../conformance/mcp-check.ts'
import { attacks } from './path/attacks.ts'
import { ordinary } from './path/ordinary.ts'
import { plantProject, projectAttacks, projectPaths } from './path/project.ts'
import { plantTree } from './path/tree.ts'

const tree = plantTree()
after(tree.remove)
const root = join(tree.base, 'app')
const deny = ['**/.env', '**/.env.*', '**/*.pem', '**/.ssh/**']
const options = { args: ['/path'], inside: [root], deny }

mcpCheckConforms(path, { options, passes: { path: 'src/a.ts' }, fails: { path: '../outside' } })

describe('path containment', () => {
  let find: Awaited<ReturnType<typeof loaded>>
  before(async () => {
    find = await loaded(path, options)
  })
  const placed = (text: string): string => text.replaceAll('{base}', tree.base)
  for (const text of ordinary) {
    it(`passes ${JSON.stringify(text.slice(0, 60))}`, async () => {
      assert.deepEqual(await find({ path: placed(text) }), [])
    })
  }
  for (const text of attacks) {
    it(`refuses ${JSON.stringify(text.slice(0, 60))}`, async () => {
      const findings = await find({ path: placed(text) })
      assert.equal(findings.length, 1)
      assert.equal(findings[0]?.pointer, '/path')
    })
  }
})

describe('path containment in a project', () => {
  const project = plantProject()
  after(project.remove)
  let find: Awaited<ReturnType<typeof loaded>>
  before(async () => {
    find = await loaded(path, { ...options, inside: [join(project.base, 'proj')] })
  })
  const placed = async (text: string): Promise<number> =>
    (await find({ path: text.replaceAll('{base}', project.base) })).length
  for (const text of projectPaths) {
    it(`passes ${JSON.stringify(text.slice(0, 60))}`, async () => assert.equal(await placed(text), 0))
  }
  for (const text of projectAttacks) {
    it(`refuses ${JSON.stringify(text.slice(0, 60))}`, async () => assert.equal(await placed(text), 1))
  }
})

describe('the options of a path check', () => {
  const reasons = async (changes: object, args: Record<string, unknown>, cwd?: string): Promise<string[]> => {
    const find = await loaded(path, { ...options, ...changes }, { cwd })
    return (await find(args)).map(({ pointer, reason }) => `${pointer} ${reason}`)
  }
  it('take missing and other arguments for violations, unless a missing one is optional', async () => {
    assert.deepEqual(await reasons({}, {}), ['/path is missing'])
    assert.deepEqual(await reasons({ optional: true }, {}), [])
    assert.deepEqual(await reasons({ optional: true }, { path: null }), ['/path must be a string'])
    assert.deepEqual(await reasons({}, { path: ['src'] }), ['/path must be a string'])
  })
  it('judge every element that a pointer meets', async () => {
    assert.deepEqual(await reasons({ args: ['/paths/*'] }, { paths: ['src', '../outside', '.env'] }), [
      '/paths/1 resolves outside the allowed folders',
      '/paths/2 matches the denied pattern **/.env',
    ])
    assert.deepEqual(await reasons({ args: ['/paths/*'] }, { paths: [] }), ['/paths/* is missing'])
  })
  it('resolve relative paths against the option, then the folder of the child, then the first root', async () => {
    const inside = [root, join(tree.base, 'outside')]
    assert.deepEqual(await reasons({ inside }, { path: '../app2' }, join(tree.base, 'outside/in')), [])
    assert.equal((await reasons({ inside }, { path: 'x' }, tree.base)).length, 1)
    assert.deepEqual(await reasons({ inside, cwd: join(root, 'src') }, { path: 'x' }, tree.base), [])
    assert.deepEqual(await reasons({ inside }, { path: 'x' }), [])
  })
  it('take roots that are links, by both names, and roots relative to the working directory', async () => {
    const alias = join(tree.base, 'alias')
    assert.deepEqual(await reasons({ inside: [alias] }, { path: join(alias, 'src/a.ts') }), [])
    assert.deepEqual(await reasons({ inside: [alias] }, { path: join(root, 'src/a.ts') }), [])
    assert.equal((await reasons({ inside: [alias] }, { path: join(alias, '.env') })).length, 1)
    const inside = [relative(process.cwd(), root)]
    assert.deepEqual(await reasons({ inside }, { path: join(root, 'src') }), [])
  })
  it('refuse every link on the way, or examine none', async () => {
    const symlinks = 'reject' as const
    assert.deepEqual(await reasons({ symlinks }, { path: 'src/a.ts' }), [])
    assert.deepEqual(await reasons({ symlinks }, { path: 'link-in/a.ts' }), ['/path leads through a symbolic link'])
    const alias = join(tree.base, 'alias')
    assert.deepEqual(await reasons({ symlinks, inside: [alias] }, { path: join(alias, 'src/a.ts') }), [])
    assert.deepEqual(await reasons({ symlinks: 'ignore' }, { path: 'link-out/secret.txt' }), [])
    assert.equal((await reasons({ symlinks: 'ignore' }, { path: '../outside' })).length, 1)
  })
  it('warn where links are not examined', () => {
    assert.equal(path.lint?.({ ...options, symlinks: 'ignore' })[0]?.code, 'PATH_LINKS_IGNORED')
    assert.deepEqual(path.lint?.(options), [])
  })
  it('hold the root of the file system, and a root that does not exist yet', async () => {
    assert.deepEqual(await reasons({ inside: ['/'] }, { path: '/usr/lib' }), [])
    const later = join(tree.base, 'later')
    assert.deepEqual(await reasons({ inside: [later] }, { path: 'x/y' }), [])
    assert.equal((await reasons({ inside: [later] }, { path: '../outside' })).length, 1)
  })
  it('hold a root whose name has other spellings', async () => {
    for (const name of ['my%20app', 'ﬁles', 'a b'])
      assert.deepEqual(await reasons({ inside: [join(tree.base, name)] }, { path: join(tree.base, name, 'x') }), [])
    assert.equal(
      (await reasons({ inside: [join(tree.base, 'my%20app')] }, { path: join(tree.base, 'my app/x') })).length,
      1,
    )
  })
  it('take a text where the policy sees a list for a violation, optional or not', async () => {
    for (const args of [['/paths/*'], ['/paths/*/path'], ['/paths/path']])
      assert.deepEqual(await reasons({ args, optional: true }, { paths: '/etc/passwd' }), [
        `${args[0]} must be a string`,
      ])
    assert.deepEqual(await reasons({ args: ['/paths/*'], optional: true }, { paths: null }), [])
  })
  it('deny a folder that is written with a slash after it, and letters in either spelling', async () => {
    for (const [pattern, path] of [
      ['docs/', 'docs/x'],
      ['docs//', 'docs'],
      ['donne\u0301es/**', 'données/x'],
      ['données/**', 'donne\u0301es/x'],
    ])
      assert.equal((await reasons({ deny: [pattern] }, { path })).length, 1, pattern)
    assert.deepEqual(await reasons({ deny: ['docs/'] }, { path: 'src/docs' }), [])
  })
  it('deny by patterns with steps that lead nowhere, and by folders named through links', async () => {
    const alias = join(tree.base, 'alias')
    for (const pattern of [
      ...['./docs/**', 'docs/./**', 'docs//**', './/docs', `${alias}/docs/**`, '.'],
      ...['src/../docs/**', 'src/a/../../docs', '.git/../docs', 'données/../docs/**'],
    ])
      assert.equal((await reasons({ deny: [pattern] }, { path: 'docs/x' })).length, 1, pattern)
    assert.deepEqual(await reasons({ deny: ['./docs/**', '**/x/../.env'] }, { path: 'src/a.ts' }), [])
  })
  it('warn of patterns that deny less than they seem to', () => {
    const deny = ['/docs/**', '.env', '*.pem', '**/.env', 'docs', 'docs/*', `${root}/docs/**`, '/**', '*']
    assert.deepEqual(
      path.lint?.({ ...options, deny }).map(({ code, message }) => `${code} ${message.split('"')[1]}`),
      ['PATH_DENY_ELSEWHERE /docs/**', 'PATH_DENY_AT_TOP .env', 'PATH_DENY_AT_TOP *.pem'],
    )
  })
  it('deny by absolute patterns too', async () => {
    assert.deepEqual(await reasons({ deny: [`${root}/docs/**`] }, { path: 'docs/x' }), [
      `/path matches the denied pattern ${root}/docs/**`,
    ])
  })
  it('refuse folders that say nothing', async () => {
    for (const inside of [[''], ['  '], ['~/project']])
      await assert.rejects(async () => path.compile?.({ ...options, inside }), { code: 'INVALID_POLICY' })
    await assert.rejects(async () => path.compile?.({ ...options, deny: ['~/.ssh/**'] }), { code: 'INVALID_POLICY' })
  })
  it('cannot tell where a link leads that is another one for each process', {
    skip: !existsSync('/proc/self'),
  }, async () => {
    const inside = [root, process.cwd()]
    for (const path of ['link-process', 'link-process/package.json'])
      assert.deepEqual(await reasons({ inside }, { path }), ['/path cannot be followed to its end'])
  })
  it('cannot tell of a text with many readings when its time is over', async () => {
    let now = 0
    const clock = mock.method(performance, 'now', () => (now += 0.8))
    try {
      const list = Array.from({ length: 80 }, (_none, index) => index).join()
      assert.deepEqual(await reasons({}, { path: `{${list.slice(0, 40)}}` }), [])
      assert.deepEqual(await reasons({}, { path: `{${list}}` }), ['/path cannot be judged: the check took too long'])
    } finally {
      clock.mock.restore()
    }
  })
  it('cannot tell where a path leads that the kernel does not follow either', async () => {
    const find = await loaded(path, options)
    assert.deepEqual(await find({ path: 'loop-1' }), [
      { pointer: '/path', reason: 'cannot be followed to its end', certain: false },
    ])
  })
})
