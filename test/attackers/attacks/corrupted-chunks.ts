import { holdsAll, runsARealPolicy, strangeFiles, updateCode, volunteerAttack } from '../victim.js'

export const corruptedChunks = volunteerAttack({
  name: 'corrupted-chunks',
  about: 'serves the run’s adapter with one byte changed in every chunk',
  run: 'arena',
  async carryOut(scene, _, signal) {
    const { sealed } = await scene.arena.policies.newest(signal)
    scene.answer = async (want) => {
      if (want.kind === 'held') return holdsAll(sealed)
      if (want.kind !== 'chunk') return sealed.envelope
      const chunk = Uint8Array.from(await scene.adapterChunk(want.index))
      chunk[chunk.length >> 1]! ^= 1
      return chunk
    }
    const { victim } = scene
    // First with nobody else to turn to: the download of one chunk would otherwise often be over before the false one comes.
    victim.offering.alone = true
    const alone = await updateCode(scene, signal)
    const loaded = victim.keeper.loaded !== null
    victim.offering.alone = false
    const code = await updateCode(scene, signal)
    const { refusals } = victim
    const blamed = refusals.some(
      (event) => event.code === 'chunk_mismatch' && event.peer === scene.attacker.host.peerId,
    )
    return [
      ...(alone === 'no_source' && !loaded ? [] : [`from the attacker alone: ${alone ?? 'loaded'}`]),
      ...(code === null ? [] : [`the policy was not loaded: ${code}`]),
      ...(runsARealPolicy(scene) ? [] : ['another policy was loaded']),
      ...(blamed ? [] : ['nobody was blamed']),
      ...(await strangeFiles(scene)),
    ]
  },
})
