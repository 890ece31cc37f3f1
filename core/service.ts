import type { Services } from './contracts/services.ts'
import { GuardError } from './errors.ts'

/** One thing that one plugin provides and others need. */
export class Service<T> {
  readonly name: string
  #value: T | undefined

  constructor(name: string) {
    this.name = name
  }

  /** Throws DUPLICATE where another plugin provides it already. */
  provide(value: T): void {
    if (this.#value !== undefined) throw new GuardError('DUPLICATE', `The service "${this.name}" is provided twice.`)
    this.#value = value
  }

  /** Undefined where no plugin provides it. */
  get(): T | undefined {
    return this.#value
  }

  /** Throws MISSING_PLUGIN where no plugin provides it. */
  need(): T {
    if (this.#value === undefined)
      throw new GuardError('MISSING_PLUGIN', `No plugin provides the service "${this.name}".`)
    return this.#value
  }

  /** The value, which whoever comes first makes. */
  getOrProvide(make: () => T): T {
    this.#value ??= make()
    return this.#value
  }
}

/** Services by name, each made when it is first asked for. */
export class ServiceRegistry {
  readonly #services = new Map<string, Service<unknown>>()

  of<N extends keyof Services>(name: N): Service<Services[N]> {
    let service = this.#services.get(name)
    if (service === undefined) {
      service = new Service(name)
      this.#services.set(name, service)
    }
    return service as Service<Services[N]>
  }
}
