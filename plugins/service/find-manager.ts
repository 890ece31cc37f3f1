import { existsSync } from 'node:fs'
import { userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { GuardError } from 'guard-gateway/core'
import type { Io } from '#lib/command'
import { serviceErrors } from './error-codes.ts'
import { launchd } from './launchd.ts'
import type { ServiceManager } from './service-manager.ts'
import type { ServiceOptions } from './setting.ts'
import { systemd, systemdFault } from './systemd.ts'

/** Folder of the user's configuration files. A relative one counts for nothing, as in systemd. */
export const configFolder = ({ env }: Io): string => absolute(env.XDG_CONFIG_HOME) ?? join(home(env), '.config')

const home = ({ HOME }: Io['env']): string => absolute(HOME) ?? userInfo().homedir

const absolute = (folder: string | undefined): string | undefined =>
  folder !== undefined && isAbsolute(folder) ? folder : undefined

/** The service manager of this system, whether or not it runs. Throws SERVICE_UNAVAILABLE. */
export const managerHere = ({ platform = process.platform }: ServiceOptions, io: Io): ServiceManager => {
  if (platform === 'darwin') return launchd(home(io.env), io)
  if (platform === 'linux') return systemd(configFolder(io), io)
  throw unavailable(
    platform === 'win32'
      ? 'Windows has no services of users: install in WSL, or let the Task Scheduler run "guard gateway run" at logon'
      : `there is no service manager for ${platform} here: let its own start "guard gateway run"`,
  )
}

/** The same, where it can be used. Throws SERVICE_UNAVAILABLE with the way out. */
export const usableManager = async (options: ServiceOptions, io: Io): Promise<ServiceManager> => {
  const { platform = process.platform, systemd_folder = '/run/systemd/system' } = options
  const manager = managerHere(options, io)
  if (platform !== 'linux') return manager
  if (io.env.SUDO_USER !== undefined && io.env.SUDO_USER !== 'root')
    throw unavailable(`this would be a service of root: run it as ${JSON.stringify(io.env.SUDO_USER)}, without sudo`)
  if (!existsSync(systemd_folder)) throw unavailable(withoutSystemd(io))
  const fault = await systemdFault(io)
  if (fault === undefined) return manager
  throw unavailable(
    `your own systemd does not answer (${fault}): log in as this user directly, not by su or sudo, or run "loginctl enable-linger" and then export XDG_RUNTIME_DIR=/run/user/$(id -u)`,
  )
}

const withoutSystemd = ({ env }: Io): string => {
  if (env.WSL_DISTRO_NAME !== undefined)
    return 'this WSL was started without systemd: write "[boot]" and "systemd=true" into /etc/wsl.conf, then run "wsl --shutdown" in Windows'
  return 'this machine was not started by systemd: in a container run "guard gateway run" itself, and with OpenRC, runit or s6 let a service of theirs run it (examples/run-for-good has one for OpenRC)'
}

const unavailable = (why: string): GuardError =>
  new GuardError(serviceErrors.SERVICE_UNAVAILABLE, `No service was touched: ${why}.`)
