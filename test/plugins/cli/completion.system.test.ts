import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { Gateway, type GuardError } from 'guard-gateway/core'
import { cli } from 'guard-gateway/plugins/cli'
import { type Command, commandKind } from '#lib/command'
import { main } from '../../../presets/default/main.ts'
import { fakeIo } from '../../kit/io.ts'

const BASH = '/bin/bash'

/** What the command line prints for a shell. */
const scriptOf = async (shell: string): Promise<string> => {
  const io = fakeIo()
  assert.equal(await main(['completion', shell], io), 0)
  return io.outText()
}

/** What bash offers for the last of these words, by the function of the script. */
const offered = (script: string, ...words: readonly string[]): readonly string[] => {
  const ask = `eval "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _guard; printf '%s\n' "\${COMPREPLY[@]}"`
  const told = execFileSync(BASH, ['--norc', '--noprofile', '-c', ask, 'bash', script, 'guard', ...words], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH },
  })
  return told.split('\n').filter((word) => word !== '')
}

/** A folder with a `guard` that answers for what is stored, and says what it was asked. */
const stored = async (context: TestContext): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'guard-shell-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  const answers = ['ses_1\tfix the cart, 3 min ago', 'ses_2\tit is $(odd) `too`']
  await writeFile(join(folder, 'answers'), answers.map((line) => `${line}\n`).join(''))
  const script = `#!/bin/sh\nprintf '%s\\n' "$@" > "${folder}/asked"\ncat "${folder}/answers"\n`
  await writeFile(join(folder, 'guard'), script, { mode: 0o755 })
  return folder
}

const asked = async (folder: string): Promise<readonly string[]> =>
  (await readFile(join(folder, 'asked'), 'utf8')).split('\n').slice(0, -1)

const FISH = '/usr/bin/fish'
const ZSH = '/usr/bin/zsh'

/** What the function of zsh hands to `compadd` for the last of these words. */
const offeredByZsh = (script: string, folder: string, ...typed: readonly string[]): readonly string[] => {
  const ask = `compadd() { while [[ $1 == -* ]]; do [[ $1 == -- ]] && { shift; break; }; [[ $1 == -a || $1 == -d ]] && { print -rl -- "\${(@P)2}"; shift; }; shift; done; print -rl -- "$@" }
compdef() { : }
_files() { print files }
eval "$1"; shift; words=("$@"); CURRENT=$#; _guard`
  const told = execFileSync(ZSH, ['-f', '-c', ask, 'zsh', script, 'guard', ...typed], {
    encoding: 'utf8',
    env: { PATH: `${folder}:${process.env.PATH}`, HOME: folder },
  })
  return told.split('\n').filter((word) => word !== '')
}

const zshTests = (): void => {
  it('completes words, flags and what is stored in zsh', async (context) => {
    const folder = await stored(context)
    const script = await scriptOf('zsh')
    assert.ok(offeredByZsh(script, folder, 'replay', 'p').includes('pin'))
    assert.ok(offeredByZsh(script, folder, 'replay', 'list', '--f').includes('--failure'))
    assert.deepEqual(offeredByZsh(script, folder, 'replay', 'import', ''), ['files'])
    assert.deepEqual(offeredByZsh(script, folder, 'sessions', 'pause', 'ses').slice(0, 4), [
      'ses_1  fix the cart, 3 min ago',
      'ses_2  it is $(odd) `too`',
      'ses_1',
      'ses_2',
    ])
    assert.deepEqual(await asked(folder), ['__complete', 'sessions', 'pause', 'ses'])
  })
}

/** What fish offers for a command line, each with its meaning. */
const offeredByFish = (script: string, line: string, folder = ''): readonly string[] => {
  const told = execFileSync(FISH, ['--no-config', '-c', `${script}\ncomplete -C ${JSON.stringify(line)}`], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: `${folder}:${process.env.PATH}`, HOME: folder },
  })
  return told.split('\n').filter((word) => word !== '')
}

const fishTests = (): void => {
  it('completes words and flags in fish, with their meaning and no complaint', async () => {
    const script = await scriptOf('fish')
    assert.deepEqual(offeredByFish(script, 'guard pl'), ['playground\tlist, run, open'])
    assert.deepEqual(offeredByFish(script, 'guard replay unp'), ['unpin\tlet a run go when its time comes'])
    assert.match(offeredByFish(script, 'guard --config x replay list --fail').join(), /^--failure\twith one of these/)
    assert.match(offeredByFish(script, 'guard replay list --failure lo').join(), /^loop\t/)
    assert.match(offeredByFish(script, 'guard replay show --w').join(), /--web\topen the page/)
    assert.deepEqual(offeredByFish(script, 'guard completion f'), ['fish'])
  })
  it('completes what is stored in fish, newest first', async (context) => {
    const folder = await stored(context)
    const script = await scriptOf('fish')
    assert.deepEqual(offeredByFish(script, 'guard --json sessions pause ', folder), [
      'ses_1\tfix the cart, 3 min ago',
      'ses_2\tit is $(odd) `too`',
    ])
    assert.deepEqual(await asked(folder), ['__complete', '--json', 'sessions', 'pause', ''])
    assert.equal(offeredByFish(script, 'guard replay list --session ses_', folder).length, 2)
    assert.deepEqual(await asked(folder), ['__complete', 'replay', 'list', '--session', 'ses_'])
  })
}

const bashTests = (): void => {
  it('completes what is stored in bash', async (context) => {
    const folder = await stored(context)
    const script = `PATH="${folder}:$PATH"; ${await scriptOf('bash')}`
    assert.deepEqual(offered(script, 'sessions', 'pause', ''), ['ses_1', 'ses_2'])
    assert.deepEqual(await asked(folder), ['__complete', 'sessions', 'pause', ''])
    assert.deepEqual(offered(script, 'replay', 'list', '--session', 'ses_'), ['ses_1', 'ses_2'])
    assert.deepEqual(await asked(folder), ['__complete', 'replay', 'list', '--session', 'ses_'])
  })
  it('completes the first and the second word of a command, behind flags too', async () => {
    const script = await scriptOf('bash')
    assert.deepEqual(offered(script, 'pl'), ['playground'])
    assert.deepEqual(offered(script, 'replay', 'p'), ['pin'])
    assert.deepEqual(offered(script, '--config', 'replay.yml', '--json', 'mcp', 'ser'), ['serve'])
    assert.deepEqual(offered(script, 'bench', 'ex'), ['export'])
    for (const word of ['gateway', 'doctor', 'completion']) assert.ok(offered(script, '').includes(word))
  })
  it('completes the flags of a command, and those of all', async () => {
    const script = await scriptOf('bash')
    assert.deepEqual(offered(script, 'replay', 'list', '--st'), ['--status'])
    assert.deepEqual(offered(script, 'replay', 'list', '--no-'), ['--no-color', '--no-pager', '--no-progress'])
    assert.deepEqual(offered(script, '--v'), ['--verbose', '--version'])
    assert.deepEqual(offered(script, 'setup', '--port'), [])
  })
  it('completes scenarios, clients, codes and what else a command says that it takes', async () => {
    const script = await scriptOf('bash')
    assert.deepEqual(offered(script, 'playground', 'run', 'exact'), ['exact-loop'])
    assert.deepEqual(offered(script, 'playground', 'run', '--mode', ''), ['shadow', 'enforce'])
    assert.deepEqual(offered(script, 'playground', 'run', '--mode', 'enforce', 'exact'), ['exact-loop'])
    assert.deepEqual(offered(script, 'playground', 'run', 'exact-loop', 'exact'), [])
    assert.deepEqual(offered(script, 'setup', 'codex', 'cla'), ['claude-code'])
    assert.deepEqual(offered(script, 'mcp', 'approvals', 'a'), ['allow'])
    assert.deepEqual(offered(script, 'explain', 'PORT_T'), ['PORT_TAKEN'])
    assert.deepEqual(offered(script, 'replay', 'export', 'x', '--format', 'js'), ['json', 'jsonl'])
  })
  it('leaves files, and what follows --, to the shell', async () => {
    const script = await scriptOf('bash')
    for (const words of [
      ['--config', 'p'],
      ['replay', 'import', 'r'],
      ['run', '--', 'rep'],
      ['mcp', 'run', '--server-id', 'x', '--', 'pl'],
    ])
      assert.deepEqual(offered(script, ...words), [], words.join(' '))
  })
  it('is accepted by bash as it stands, and bound to guard', async () => {
    const told = execFileSync(BASH, [
      '--norc',
      '--noprofile',
      '-c',
      'eval "$1"; complete -p guard',
      'bash',
      await scriptOf('bash'),
    ])
    assert.equal(String(told), 'complete -o default -F _guard guard\n')
  })
}

describe('completion', () => {
  if (existsSync(BASH)) bashTests()
  if (existsSync(FISH) || process.env.GUARD_SHELL_TESTS === 'required') fishTests()
  if (existsSync(ZSH) || process.env.GUARD_SHELL_TESTS === 'required') zshTests()

  it('is made of the commands there are, those of plugins too', async () => {
    const gateway = new Gateway().use(cli())
    const dance: Command = {
      id: 'dance',
      args: '[style]',
      summary: "dance, it's fun",
      options: { '-p, --partner <name>': 'with whom', '--slow': 'not fast' },
      choices: { style: ['tango', 'waltz'], '--partner': ['ann', 'bo'] },
      run: async () => 0,
    }
    gateway.registry(commandKind).add(dance)
    const scripts: Record<string, string> = {}
    for (const shell of ['bash', 'zsh', 'fish']) {
      const io = fakeIo()
      assert.equal(
        await gateway
          .registry(commandKind)
          .need('completion')
          .run({ args: [shell], options: {}, rest: [] }, io),
        0,
      )
      scripts[shell] = io.outText()
    }
    for (const shell of ['bash', 'zsh']) {
      assert.match(scripts[shell] ?? '', /'dance:'0\) _guard_offer 'tango waltz' ;;/)
      assert.match(scripts[shell] ?? '', /'dance -p'\) _guard_offer 'ann bo' ;;/)
      assert.match(scripts[shell] ?? '', /'dance'\) _guard_offer '-p --partner --slow --config /)
    }
    assert.match(scripts.zsh ?? '', /^#compdef guard\n/)
    const fish = scripts.fish ?? ''
    assert.match(fish, /^complete -c guard -n 'test -z "\$\(__guard_words\)"' -a 'dance' -d 'dance, it\\'s fun'$/m)
    assert.match(fish, /^complete -c guard -n '__guard_exactly 1 dance' -a 'tango waltz'$/m)
    assert.match(fish, /^complete -c guard -n '__guard_at 1 dance' -s p -l partner -x -a 'ann bo' -d 'with whom'$/m)
  })
  it('names the shells there are', async () => {
    const commands = new Gateway().use(cli()).registry(commandKind)
    await assert.rejects(
      commands.need('completion').run({ args: ['csh'], options: {}, rest: [] }, fakeIo()),
      (error: GuardError) =>
        error.code === 'USAGE' && /no completion for "csh"; there is bash, zsh, fish\./.test(error.message),
    )
  })
})
