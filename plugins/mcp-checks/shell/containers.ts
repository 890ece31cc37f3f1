type Words = readonly (string | undefined)[]

/** Programs that start containers. */
const CONTAINERS = new Set(['docker', 'podman', 'nerdctl', 'kubectl', 'oc', 'docker-compose'])

/** Subcommands that start nothing hidden. */
const LOOKING = new Set(
  `ps images logs inspect build pull push version info network volume stop restart rm rmi tag top stats port up down ls list config events
  get describe apply explain rollout scale delete wait api-resources api-versions cluster-info diff start kill pause unpause rename history
  search login logout save load import export commit prune df label annotate taint cordon uncordon drain expose patch replace autoscale
  set auth certificate options kustomize port-forward use -v -h --version --help`.split(/\s+/),
)

/** Subcommands with subcommands of their own. */
const GROUPS = new Set(
  'container image system context builder buildx manifest compose secret node swarm trust'.split(' '),
)

/** Resources of `kubectl create` that run nothing. */
const MADE =
  /^(?:-f|--filename=.*|ns|namespace|cm|configmap|secret|sa|serviceaccount|(?:cluster)?role(?:binding)?|ing|ingress|svc|service|quota|token|pdb|priorityclass)$/

/** Options before a subcommand that only select a target. The last one takes no value. */
const PLACE = /^(?:-n|--(?:namespace|context)|-A)(?:=|$)/

const afterContainerName = (args: Words): Words => {
  let at = 0
  for (let word = args[at] ?? ''; PLACE.test(word); word = args[at] ?? '')
    at += word.includes('=') || word === '-A' ? 1 : 2
  return args.slice(at)
}

/** The first plain word of `docker compose`, after its files. */
const firstPlain = (args: Words): string | undefined => {
  const at = args.findIndex((word) => word !== '-f' && word?.startsWith('-') !== true)
  return args[at - 1] === '-f' ? args[at + 1] : args[at]
}

/** True if a program starts a container with contents that its words do not show. */
export const contains = (program: string, args: Words): boolean => {
  if (!CONTAINERS.has(program)) return false
  const [subcommand = '', ...rest] = afterContainerName(args)
  if (subcommand === 'create' && program === 'kubectl') return rest.includes('--') || !MADE.test(rest[0] ?? '')
  return !LOOKING.has((GROUPS.has(subcommand) ? firstPlain(rest) : subcommand) ?? '')
}
