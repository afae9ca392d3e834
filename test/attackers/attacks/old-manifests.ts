import { strangeFiles, updateCode, volunteerAttack } from '../victim.js'

/** Years: no clock of a volunteer is so wrong. */
const LONG_AGO_MS = 1_600_000_000_000

export const oldManifests = volunteerAttack({
  name: 'old-manifests',
  about: 'publishes an earlier or expired policy',
  run: 'own',
  async carryOut(scene, i, signal) {
    const { victim } = scene
    const numbered = (number: number) =>
      scene.forge((manifest) => ({ ...manifest, version: number, round: number, closedRounds: [] }))
    const good = await numbered(50)
    const old =
      i % 2 === 0
        ? await numbered(49)
        : await scene.forge((manifest) => ({
            ...manifest,
            version: 51,
            round: 51,
            createdAtMs: LONG_AGO_MS,
            expiresAtMs: LONG_AGO_MS,
          }))
    let envelope = good
    scene.answer = async (want) => (want.kind === 'chunk' ? scene.adapterChunk(want.index) : envelope)
    const first = await updateCode(scene, signal)
    envelope = old
    const second = await updateCode(scene, signal)
    return [
      ...(first === null ? [] : [`the good one was refused: ${first}`]),
      ...(second === (i % 2 === 0 ? 'stale_manifest' : 'expired') ? [] : [`the old one: ${second ?? 'loaded'}`]),
      ...(victim.keeper.loaded?.manifest.version === 50 ? [] : ['the good one is not in force']),
      ...(await strangeFiles(scene)),
    ]
  },
})
