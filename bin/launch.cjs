// Written in old syntax, so that a Node.js that is too old can parse the file and report its version.
var fs = require('fs')
var path = require('path')

var NEEDED = [20, 19]

function stop(why) {
  console.error(why)
  process.exit(1)
}

/** Runs the program of a package: `dist/<folder>/main.js`. */
module.exports = function launch(folder) {
  var version = process.versions.node.split('.').map(Number)
  if (version[0] < NEEDED[0] || (version[0] === NEEDED[0] && version[1] < NEEDED[1]))
    stop('Node.js ' + process.versions.node + ' is too old: install ' + NEEDED.join('.') + ' or newer (nodejs.org).')
  var main = path.join(__dirname, '..', 'dist', folder, 'main.js')
  if (!fs.existsSync(main)) stop('This checkout is not built yet; run npm run setup')
  import(require('url').pathToFileURL(main).href)
}
