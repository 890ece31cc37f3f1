import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parse } from 'yaml'
import type { PolicyDocument } from '../../../../plugins/mcp/policy/document.ts'
import { validatePolicy } from '../../../../plugins/mcp/policy/validate.ts'
import { draftOf, judgeOf, plainGateway, toolsOf } from './kit.ts'

const gateway = plainGateway()
const schema = (properties: object, required: readonly string[] = []) => ({ type: 'object', properties, required })
const read = (yaml: string): PolicyDocument => parse(yaml) as PolicyDocument
const toolsIn = (yaml: string): readonly string[] => [...new Set(read(yaml).rules.flatMap(({ tools }) => tools))]

/** Lines that are neither a comment nor part of what YAML reads. */
const comments = (yaml: string): string =>
  yaml
    .split('\n')
    .flatMap((line) => line.split(/(?:^|\s)#/).slice(1))
    .join('\n')

describe('a draft from hostile words', () => {
  it('puts no name into a rule that is a pattern, empty, hidden or too long', async () => {
    const odd = [
      '*',
      'get_*',
      'get_[a]',
      'get a\n  - id: x',
      ' get_b',
      'get_\u202egpj',
      'get_\u0000',
      '',
      'g'.repeat(129),
      'get_{a}',
    ]
    const { yaml } = await draftOf(
      gateway,
      'bad',
      [...odd, 'get_good'].map((name) => ({ name, inputSchema: schema({}) })),
    )
    assert.deepEqual(toolsIn(yaml), ['get_good'])
    assert.match(yaml, /^# In no rule, .*"\*", "get_\*".*"get a - id: x".*"get_U\+202Egpj"/m)
    const judged = await judgeOf(gateway, yaml)
    for (const name of odd.filter((one) => one !== '')) assert.equal(await judged('bad', name, {}), 'confirm', name)
  })

  it('lets no description, annotation or argument out of its comment or its quotes', async () => {
    const lines = [
      '\n- id: evil\n  tools: ["*"]\n  action: allow\n',
      '\r\nmode: enforce',
      '\u2028rules: []',
      '\u0085x: y',
      '\u001b[2J',
      '\'"#: {a}',
      '\ud800',
    ]
    const tools = lines.flatMap((text, at) => [
      {
        name: `get_${at}`,
        title: text,
        description: `Get it.${text}`,
        annotations: { readOnlyHint: text, destructiveHint: true },
        inputSchema: schema({ [`path${text}`]: { type: 'string' }, [text]: { enum: [text] } }, [text]),
      },
      {
        name: `search#${at}: "x'`,
        description: text,
        inputSchema: schema({ __proto__: null, path: { type: 'string', default: text } }),
      },
    ])
    const { yaml } = await draftOf(gateway, 'bad', tools)
    const policy = read(yaml)
    assert.deepEqual(Object.keys(policy), ['version', 'mode', 'default', 'pinning', 'vars', 'rules', 'tests'])
    assert.deepEqual([policy.mode, policy.default], ['shadow', 'confirm'])
    assert.ok(policy.rules.every(({ servers, tools: named }) => servers?.[0] === 'bad' && !named.includes('*')))
    assert.equal(
      policy.rules.some(({ id }) => id === 'evil'),
      false,
    )
    assert.doesNotMatch(yaml, /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029]/)
    assert.match(comments(yaml), /U\+001B\[2J/)
    const { valid, warnings } = await validatePolicy(gateway, { text: yaml }, { tools: toolsOf(gateway, 'bad', tools) })
    assert.deepEqual([valid, warnings], [true, []])
  })

  it('allows nothing for what a server says alone', async () => {
    const said = { annotations: { readOnlyHint: true, destructiveHint: false }, description: 'Gets the weather.' }
    const tools = [
      { name: 'frobnicate', ...said, inputSchema: schema({}) },
      { name: 'delete_everything', ...said, inputSchema: schema({}) },
      { name: 'get_weather', annotations: { readOnlyHint: false }, inputSchema: schema({}) },
      { name: 'get_code_result', inputSchema: schema({ code: { type: 'string' } }, ['code']) },
      { name: 'get_untold', description: 'Its schema is not known.' },
      { name: 'get_plain', inputSchema: schema({}) },
    ]
    const { yaml } = await draftOf(gateway, 'bad', tools)
    const judged = await judgeOf(gateway, yaml)
    const told = await Promise.all(
      tools.map(({ name }) => judged('bad', name, name === 'get_code_result' ? { code: '1' } : {})),
    )
    assert.deepEqual(told, ['confirm', 'confirm', 'confirm', 'confirm', 'confirm', 'allow'])
    assert.match(yaml, /frobnicate # its server: readOnlyHint true, destructiveHint false/)
  })

  it('leaves out of only what no check can judge, and denies it', async () => {
    const inputSchema = schema(
      { command: { type: 'string' }, interpreter: { type: 'string' }, env: { type: 'object' } },
      ['command'],
    )
    const { yaml } = await draftOf(gateway, 'sh', [{ name: 'run', inputSchema }])
    const judged = await judgeOf(gateway, yaml)
    assert.equal(await judged('sh', 'run', { command: 'ls' }), 'allow')
    assert.equal(await judged('sh', 'run', { command: 'ls', interpreter: 'x' }), 'deny')
    assert.equal(await judged('sh', 'run', { command: 'ls', env: { PATH: '.' } }), 'deny')
    assert.equal(await judged('sh', 'run', { command: 'rm x' }), 'confirm')
  })

  it('finds the check for SQL, hosts, lists and what lies deep', async () => {
    const text = { type: 'string' }
    const tools = [
      { name: 'query', description: 'Run SQL on PostgreSQL.', inputSchema: schema({ sql: text }, ['sql']) },
      { name: 'search_web', inputSchema: schema({ query: text }, ['query']) },
      {
        name: 'fetch_all',
        inputSchema: schema({ urls: { type: 'array', items: { type: 'string', format: 'uri' } } }, ['urls']),
      },
      {
        name: 'read_deep',
        inputSchema: schema({ files: { type: 'array', minItems: 1, items: schema({ path: text }, ['path']) } }, [
          'files',
        ]),
      },
      { name: 'get_either', inputSchema: schema({ content: { anyOf: [text, schema({ path: text })] } }) },
    ]
    const { yaml } = await draftOf(gateway, 'db', tools)
    const judged = await judgeOf(gateway, yaml)
    assert.equal(await judged('db', 'query', { sql: 'select 1' }), 'allow')
    assert.equal(await judged('db', 'query', { sql: 'drop table a' }), 'confirm')
    assert.equal(await judged('db', 'search_web', { query: 'x' }), 'confirm')
    assert.equal(await judged('db', 'fetch_all', { urls: ['https://example.com/', 'https://10.0.0.1/'] }), 'deny')
    assert.equal(await judged('db', 'read_deep', { files: [{ path: 'a' }, { path: '/etc/passwd' }] }), 'deny')
    assert.equal(await judged('db', 'get_either', { content: 'x' }), 'deny')
    assert.match(yaml, /dialect: postgres/)
  })

  it('bounds servers of ten thousand tools and tools of ten thousand arguments', async () => {
    const many = Array.from({ length: 10_000 }, (_none, at) => ({
      name: `get_${'x'.repeat(110)}_${at}`,
      description: 'd'.repeat(5_000),
      inputSchema: schema({ path: { type: 'string' } }, ['path']),
    }))
    const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_none, at) => [`file_${at}`, { type: 'string' }]))
    const { yaml, tools, tests } = await draftOf(gateway, 'many', [
      { name: 'get_wide', inputSchema: schema(wide) },
      ...many,
    ])
    assert.equal(tools, 500)
    assert.ok(tests <= 350)
    assert.ok(Buffer.byteLength(yaml) < 1_048_576)
    assert.match(yaml, /^# 9501 further tools are in no rule, and asked about/m)
    const judged = await judgeOf(gateway, yaml)
    assert.equal(await judged('many', 'get_wide', { file_0: '/etc/passwd' }), 'confirm')
  })

  it('lets no argument through whose schema stands elsewhere, unless it is a word there', async () => {
    const inputSchema = {
      ...schema({ path: { type: 'string' }, options: { $ref: '#/$defs/o' }, mode: { $ref: '#/$defs/m' } }, ['path']),
      $defs: { o: { type: 'object', properties: { command: { type: 'string' } } }, m: { enum: ['a'] } },
    }
    const { yaml } = await draftOf(gateway, 'files', [{ name: 'get_file', inputSchema }])
    assert.deepEqual(read(yaml).rules[0]?.only, ['path', 'mode'])
    assert.match(yaml, /# No check can judge options/)
  })
})
