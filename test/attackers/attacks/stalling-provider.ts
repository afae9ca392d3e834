import { holdsAll, runsARealPolicy, strangeFiles, updateCode, volunteerAttack } from '../victim.js'

export const stallingProvider = volunteerAttack({
  name: 'stalling-provider',
  about: 'offers the run’s manifest and then sends no chunk',
  run: 'arena',
  async carryOut(scene, _, signal) {
    const { sealed } = await scene.arena.policies.newest(signal)
    scene.answer = async (want) => {
      if (want.kind === 'held') return holdsAll(sealed)
      return want.kind === 'chunk' ? null : sealed.envelope
    }
    const { offering } = scene.victim
    // First with nobody else to turn to: the coordinator would otherwise often have sent everything before the attacker is asked.
    offering.alone = true
    const alone = await updateCode(scene, signal)
    offering.alone = false
    const code = await updateCode(scene, signal)
    return [
      ...(alone === 'no_source' ? [] : [`from the attacker alone: ${alone ?? 'loaded'}`]),
      ...(code === null ? [] : [`the policy was not loaded: ${code}`]),
      ...(runsARealPolicy(scene) ? [] : ['another policy was loaded']),
      ...(scene.attacker.asked.some(({ kind }) => kind === 'chunk') ? [] : ['it was not asked for chunks']),
      ...(await strangeFiles(scene)),
    ]
  },
})
