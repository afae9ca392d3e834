// In the oldest syntax there is, so that a Node.js which is too old can read far enough to say so.
var fs = require('fs')
var path = require('path')

var NEEDED = [20, 19]

function stop(why) {
  console.error(why)
  process.exit(2)
}

/** Runs the program of a package, `dist/<folder>/main.js`. */
module.exports = function launch(folder) {
  var version = process.versions.node.split('.').map(Number)
  if (version[0] < NEEDED[0] || (version[0] === NEEDED[0] && version[1] < NEEDED[1]))
    stop('Node.js ' + process.versions.node + ' is too old: ' + NEEDED.join('.') + ' or newer is needed (nodejs.org).')
  var main = path.join(__dirname, '..', 'dist', folder, 'main.js')
  if (!fs.existsSync(main)) stop('This checkout is not built yet: npm run setup')
  import(require('url').pathToFileURL(main).href)
}
