import { type Command, InvalidArgumentError } from 'commander'
import { stopSignal } from '../../common/cli/index.js'
import { hubAccess, repositoryName, uploadToHub } from '../adapters/hub.js'
import { checkPulledFolder } from '../adapters/pulled-folder.js'
import { NodeError } from '../report/errors.js'

/** Adds `prove-node adapters push`: upload of a pulled folder. */
export function addPushCommand(adapters: Command): void {
  adapters
    .command('push')
    .description('Upload a pulled folder to the Hugging Face hub, with the token in HF_TOKEN')
    .argument('<folder>', 'a folder from "pull"')
    .requiredOption('--to <repository>', 'hf:OWNER/NAME; created if it does not exist', repositoryOption)
    .option('--private', 'create a private repository', false)
    .action(
      async (folder: string, { to: name, private: isPrivate }: { readonly to: string; readonly private: boolean }) => {
        const { signal: stop } = stopSignal()
        const access = hubAccess(process.env)
        const checked = await checkPulledFolder(folder, null, stop)
        const wrong = checked.files
          .filter(({ outcome }) => outcome !== 'ok')
          .map(({ name: file, outcome }) => `${file} is ${outcome}`)
        if (wrong.length > 0)
          throw new NodeError(
            'bad_folder',
            `${folder} differs from the publication: ${wrong.join(', ')}. Pull it again`,
          )
        const repository = { name, private: isPrivate }
        process.stdout.write(`${await uploadToHub(folder, checked, { repository, access }, stop)}\n`)
      },
    )
}

const repositoryOption = (text: string): string => {
  const name = repositoryName(text)
  if (name === null)
    throw new InvalidArgumentError('Give hf: with the owner and name of a repository, such as hf:ada/lending-clerk.')
  return name
}
