import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sql } from 'guard-gateway/plugins/mcp-checks/sql'
import { loaded, mcpCheckConforms } from '../../conformance/mcp-check.ts'
import { linesOf } from './lines.ts'

type Options = Parameters<typeof sql.find>[1]

const lines = (...names: readonly string[]): string[] => linesOf(...names.map((name) => `sql/${name}.txt`))

const plainOrdinary = ['plain-ordinary', 'plain-ordinary-agents', 'plain-ordinary-analysts', 'plain-ordinary-columns']

const reading: Options = { args: ['/sql'], operations: ['select', 'explain'] }
const postgres: Options = { ...reading, dialect: 'postgres', allow_functions: ['Report_Total', 'reports.total'] }

mcpCheckConforms(sql, { options: postgres, passes: { sql: 'select 1' }, fails: { sql: 'delete from t' } })

const reasons = async (options: Options, text: unknown): Promise<string[]> => {
  const find = await loaded(sql, options)
  return (await find({ sql: text })).map(({ reason }) => reason)
}

const controls = [
  'select 1\0',
  'select 1 --\r, 2',
  'select 1\r\r\n',
  'select\u000b1',
  'select 1\u0085',
  '\ufeffselect 1 x y z \u0000',
  '',
]

describe('SQL operations, PostgreSQL', () => {
  for (const text of lines('postgres-ordinary', 'postgres-ordinary-agents')) {
    it(`pass ${text}`, async () => assert.deepEqual(await reasons(postgres, text), []))
  }
  for (const text of [
    ...lines(
      'postgres-attacks',
      'postgres-attacks-fields',
      'postgres-attacks-functions',
      'postgres-attacks-statements',
    ),
    ...controls,
  ]) {
    it(`refuse ${JSON.stringify(text)}`, async () => assert.equal((await reasons(postgres, text)).length, 1))
  }
  it('pass a list of as many columns as a text holds', async () =>
    assert.deepEqual(await reasons(postgres, `select ${'a,'.repeat(130_000)}a from t`), []))
  it('refuse what would exhaust the grammar, and continue', async () => {
    for (const text of [
      `select ${'1+'.repeat(30_000)}1`,
      `select ${'('.repeat(10_000)}1${')'.repeat(10_000)}`,
      `select ')))))))', ${'('.repeat(300)}1${')'.repeat(300)}`,
      `select ${'not '.repeat(30_000)}true`,
      `select a${' is null'.repeat(30_000)}`,
      `select 1 ${'union select 1 '.repeat(9000)}`,
      `select '${'x'.repeat(270_000)}'`,
    ])
      assert.equal((await reasons(postgres, text)).length, 1, text.slice(0, 40))
    assert.deepEqual(await reasons(postgres, 'select 1'), [])
  })
  it('leave unread what the grammar would read again for every comment, not the banner of one', async () => {
    for (const mark of ['/*', '/*-', '-/*'])
      assert.match((await reasons(postgres, `select 1 ${mark.repeat(20_000)}`)).join(), /^nests too deep/, mark)
    assert.deepEqual(await reasons(postgres, `/*${'*'.repeat(5000)}*/ select 1 --${'-'.repeat(5000)}`), [])
    assert.deepEqual(await reasons(postgres, `select 1 ${'/* a */ '.repeat(1000)}`), [])
  })
  it('read an insert of many rows', async () => {
    const rows = Array.from({ length: 5000 }, (_, index) => `(${index}, 'name ${index}')`).join(', ')
    assert.deepEqual(await reasons({ ...postgres, operations: ['insert'] }, `insert into t values ${rows}`), [])
  })
})

const needs: readonly (readonly [text: string, operations: Options['operations']])[] = [
  ['insert into t values (1)', ['insert']],
  ['insert into t select 1', ['insert', 'select']],
  ['insert into t values (1) on conflict (a) do nothing', ['insert']],
  ['insert into t values (1) on conflict (a) do update set b = 1', ['insert', 'update']],
  ['update t set a = 1 where b = 2', ['update']],
  ['delete from t where a in (select 1)', ['delete', 'select']],
  ['merge into t using u on t.id = u.id when matched then delete', ['merge']],
  ['truncate t', ['truncate']],
  ['create table t (a int primary key, b text default now())', ['create']],
  ['create index i on t (lower(a))', ['create']],
  ['alter table t add column a int', ['alter']],
  ['alter table a rename to b', ['alter']],
  ['drop table t', ['drop']],
  ['grant select on t to x', ['grant']],
  ['begin', ['transaction']],
  ['set search_path to a', ['set']],
  ['show all', ['show']],
  ['do $$ begin end $$', ['call']],
  ['copy t to stdout', ['copy']],
  ["copy t to '/tmp/x'", ['copy', 'other']],
  ['vacuum', ['other']],
  ['select * into a from b', ['create', 'select']],
  ['select * from a for update', ['select', 'update']],
  ['prepare p as delete from t', ['delete']],
  ['explain analyze delete from t', ['explain', 'delete']],
  ['with x as (delete from t returning *) select * from x', ['delete', 'select']],
]

describe('SQL operations that a statement needs', () => {
  for (const [text, operations] of needs) {
    it(`${text}: ${operations.join(', ')}`, async () => {
      assert.deepEqual(await reasons({ ...postgres, operations }, text), [])
      for (const without of operations) {
        const fewer = operations.filter((one) => one !== without)
        if (fewer.length > 0) assert.equal((await reasons({ ...postgres, operations: fewer }, text)).length, 1, without)
      }
    })
  }
})

describe('SQL operations, databases without a grammar of ours', () => {
  for (const dialect of ['generic', 'mysql', 'sqlite'] as const) {
    for (const text of lines(...plainOrdinary)) {
      it(`${dialect} passes ${text}`, async () => assert.deepEqual(await reasons({ ...reading, dialect }, text), []))
    }
    for (const text of [...lines('plain-attacks', 'plain-attacks-dialects'), ...controls]) {
      it(`${dialect} refuses ${JSON.stringify(text)}`, async () => {
        assert.equal((await reasons({ ...reading, dialect }, text)).length, 1)
      })
    }
  }
  it('refuse that a query sets options of the database, by that reason', async () => {
    assert.deepEqual(await reasons(reading, 'select 1 settings readonly = 0'), [
      'sets options of the database, which is not read',
    ])
    assert.deepEqual(await reasons(reading, 'select settings from t'), [])
  })
  const showing: Options = { args: ['/sql'], operations: ['show'] }
  for (const text of [
    'show create table t',
    'show create view a.b',
    'show create procedure p',
    "show procedure status where Db = 'x'",
  ])
    it(`take for showing alone: ${text}`, async () => assert.deepEqual(await reasons(showing, text), []))
  for (const text of [
    'pragma table_info(users)',
    "pragma table_info('users');",
    'pragma main.index_list("users")',
    'pragma table_list',
    'pragma user_version',
    'pragma integrity_check',
    'pragma foreign_key_check(t)',
  ])
    it(`take for showing in SQLite alone: ${text}`, async () => {
      assert.deepEqual(await reasons({ ...showing, dialect: 'sqlite' }, text), [])
      assert.equal((await reasons({ ...showing, dialect: 'mysql' }, text)).length, 1)
    })
  for (const text of [
    'pragma user_version = 5',
    'pragma main.user_version = 5',
    'pragma foreign_keys(0)',
    'pragma journal_mode(delete)',
    'pragma wal_checkpoint',
    'pragma optimize',
    'pragma writable_schema',
    'pragma table_info(t, u)',
    'pragma table_info(load_extension(1))',
    'pragma table_info(t) + 1',
    'pragma table_info(t); drop table u',
    'pragma "user_version"',
    'pragma',
  ])
    it(`refuse what may set in SQLite: ${text}`, async () => {
      assert.equal((await reasons({ ...showing, dialect: 'sqlite' }, text)).length, 1)
    })
  it('say what is not understood, and where', async () => {
    assert.match(String(await reasons(reading, 'select @@version')), /^holds "@@version" at character 8, which/)
    assert.match(String(await reasons(reading, 'select 1 #x')), /^holds "#x" at character 10/)
    assert.match(String(await reasons(postgres, 'select 1 form t x')), /accepts: "syntax error at or near 't'"$/)
  })
  it('take a carriage return before a line feed for the end of a line', async () => {
    const text = '-- why\r\nselect a\r\nfrom t -- all\r\n'
    for (const options of [postgres, reading]) assert.deepEqual(await reasons(options, text), [])
    assert.equal((await reasons(reading, 'select 1 -- x\r\ndelete from t')).length, 1)
  })
  it('take backquotes for names where the database does', async () => {
    assert.deepEqual(await reasons({ ...reading, dialect: 'mysql' }, 'select `a b`, `größe` from `t-1`'), [])
    assert.equal((await reasons(reading, 'select `a` from t')).length, 1)
  })
  it('refuse quotes in a row that end texts elsewhere for BigQuery', async () => {
    for (const text of [
      `select '''' , '''; drop table t; select '''' , '''`,
      'select """" , """ , evil() , """" , """',
      `select 'a''''' , ''', evil() , '''' , '''`,
      `select "#", '''' , ''', evil(), '''' , '''`,
    ]) {
      assert.match(String(await reasons(reading, text)), /^holds three quotes in a row/, text)
      assert.deepEqual(await reasons({ ...reading, dialect: 'mysql' }, text), [])
    }
  })
  it('examine a list of calls once, however long it is', async () => {
    const before = process.cpuUsage()
    assert.equal((await reasons(reading, `select ${'f(),'.repeat(65_000)}1`)).length, 1)
    assert.ok(process.cpuUsage(before).user < 4_000_000)
  })
  it('let writes through that are allowed', async () => {
    const writing: Options = { args: ['/sql'], operations: ['insert', 'update', 'create', 'alter', 'transaction'] }
    for (const text of [
      'insert into t (a, b) values (1, 2)',
      'update t set a = 1',
      'create table if not exists t (a int, b varchar(9))',
      'alter table t add column commit text',
      'insert into t set a = 1 on duplicate key update commit = 2',
      'with x as (values (1)) update t set begin = 1',
      'begin',
    ])
      assert.deepEqual(await reasons(writing, text), [], text)
    assert.equal((await reasons(writing, 'insert into t select 1')).length, 1)
    assert.equal((await reasons(writing, 'insert into t values (1) use master')).length, 1)
  })
})

describe('the options of an SQL check', () => {
  it('allow several statements', async () => {
    const several = { ...postgres, multiple_statements: true }
    assert.deepEqual(await reasons(several, 'select 1; select 2;'), [])
    assert.equal((await reasons(several, 'select 1; delete from t')).length, 1)
    assert.deepEqual(await reasons({ ...reading, multiple_statements: true }, 'select 1; select 2'), [])
  })
  it('deny functions, also those without side effects and those that are allowed', async () => {
    const deny_functions = ['MD5', 'report_total', 'reports.total']
    for (const text of [
      'select md5(1::text)',
      'select "md5"(a)',
      'select pg_catalog.md5(a)',
      'select report_total(1)',
      'select reports.total(1)',
      'select (a).md5 from t',
      'explain select (a.b).report_total from a',
    ])
      assert.match(String(await reasons({ ...postgres, deny_functions }, text)), /which is denied$/)
    assert.match(String(await reasons({ ...reading, deny_functions: ['lower'] }, 'select lower(a)')), /denied$/)
  })
  it('allow functions and operators by name', async () => {
    assert.deepEqual(await reasons({ ...postgres, allow_functions: ['<~~>', 'f'] }, 'select 1 <~~> f(2)'), [])
    assert.deepEqual(await reasons({ ...reading, allow_functions: ['my_function'] }, 'select My_Function(1)'), [])
  })
  it('take missing and other arguments for violations, unless a missing one is optional', async () => {
    assert.deepEqual(await reasons(reading, undefined), ['is missing'])
    assert.deepEqual(await reasons({ ...reading, optional: true }, undefined), [])
    assert.deepEqual(await reasons(reading, ['select 1']), ['must be a string'])
  })
})
