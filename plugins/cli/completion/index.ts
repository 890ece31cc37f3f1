import { type Gateway, GuardError } from 'guard-gateway/core'
import { type Command, commandKind } from 'guard-gateway/lib/command'
import { terminalLine } from 'guard-gateway/lib/text'
import { bashScript } from './bash.ts'
import { fishScript } from './fish.ts'
import { type CompletedCommand, completedCommands } from './words.ts'
import { zshScript } from './zsh.ts'

const scripts: Readonly<Record<string, (commands: readonly CompletedCommand[]) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
}

/** `guard completion`: what lets a shell complete this program's command lines, made of the commands there are. */
export const completion = (gateway: Gateway): Command => ({
  id: 'completion',
  args: '<bash|zsh|fish>',
  summary: 'print what lets a shell complete these commands; the first line says where to put it',
  example: [
    'eval "$(guard completion bash)"',
    'source <(guard completion zsh)',
    'guard completion fish > ~/.config/fish/completions/guard.fish',
  ],
  standalone: true,
  extensible: 'if_usable',
  async run({ args }, io) {
    const [shell = ''] = args
    const known = Object.keys(scripts)
    const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined
    if (script === undefined)
      throw new GuardError(
        'USAGE',
        `There is no completion for "${terminalLine(shell)}"; there is ${known.join(', ')}.`,
        {
          known,
        },
      )
    io.out.write(script(completedCommands(gateway.registry(commandKind))))
    return 0
  },
})
