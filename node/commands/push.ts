import { type Command, InvalidArgumentError } from 'commander'
import { stopSignal } from '../../common/cli/index.js'
import { hubAccess, repositoryName, uploadToHub } from '../adapters/hub.js'
import { checkPulledFolder } from '../adapters/pulled-folder.js'
import { interrupted, NodeError } from '../report/errors.js'

/** `prove-node adapters push`: a pulled folder for everybody. */
export function addPushCommand(adapters: Command): void {
  adapters
    .command('push')
    .description('Upload a pulled folder to the Hugging Face hub; the token is taken from HF_TOKEN')
    .argument('<folder>', 'as "pull" has made it')
    .requiredOption('--to <repository>', 'hf:OWNER/NAME; made if need be', repositoryOption)
    .option('--private', 'make the repository a private one, if it is made now', false)
    .action(
      async (folder: string, { to: name, private: isPrivate }: { readonly to: string; readonly private: boolean }) => {
        const { signal: stop } = stopSignal(interrupted())
        const access = hubAccess(process.env)
        const checked = await checkPulledFolder(folder, null, stop)
        const wrong = checked.files
          .filter(({ outcome }) => outcome !== 'ok')
          .map(({ name: file, outcome }) => `${file} is ${outcome}`)
        if (wrong.length > 0)
          throw new NodeError('bad_folder', `${folder} is not what was published: ${wrong.join(', ')}`)
        const repository = { name, private: isPrivate }
        process.stdout.write(`${await uploadToHub(folder, checked, { repository, access }, stop)}\n`)
      },
    )
}

const repositoryOption = (text: string): string => {
  const name = repositoryName(text)
  if (name === null)
    throw new InvalidArgumentError('hf: and the repository’s owner and name, such as hf:ada/lending-clerk')
  return name
}
