/**
 * What the container of a Kafka node runs: POSIX sh with nothing but its built-ins, `sleep` and `java`. It has to run in the
 * official `apache/kafka` image (Alpine, busybox), in Strimzi's and in anybody's own, on a read-only root file system.
 *
 * It is a text and not a file, so that it is in `dist/` as well.
 */

/** Where a node's pod has its parts: ConfigMap, its own key, whom to trust, its annotations; and what the script makes. */
export const NODE_PATHS = {
  config: '/opt/isthmus/config',
  node: '/opt/isthmus/node',
  trust: '/opt/isthmus/trust',
  pod: '/opt/isthmus/pod',
  properties: '/tmp/server.properties',
} as const;

/** Exit code of a node that refuses its disks or its configuration (EX_CONFIG): starting it again changes nothing by itself. */
export const REFUSED = 78;

/** How scripts of ours talk to people. */
const SAY = `say() {
  printf '%s\\n' "$1" >&2
}

# Says why this node does not start, also to whoever reads the status of its pod.
refuse() {
  say "$1"
  if [ -w /dev/termination-log ]; then printf '%s\\n' "$1" > /dev/termination-log; fi
  exit ${REFUSED}
}

`;

const READ_KEY = `# Sets value to what the file $1 says of the key $2 (the last time), or to nothing; found tells the two apart.
read_key() {
  found=no
  value=
  while IFS= read -r line || [ -n "$line" ]; do
    case $line in
      "$2="*) found=yes value=\${line#"$2="} ;;
    esac
  done < "$1"
}

`;

/** Needs `annotations`, the file of the downward API. */
const WAIT_FOR_ANNOTATION = `# Sets value to the pod annotation $1, as soon as there is one. $2 lists the characters it may have besides letters and digits.
wait_for_annotation() {
  waiting=no
  while :; do
    found=no
    if [ -r "$annotations" ]; then read_key "$annotations" "$1"; fi
    if [ "$found" = yes ]; then break; fi
    if [ "$waiting" = no ]; then say "Waiting for the annotation $1 of this pod"; fi
    waiting=yes
    sleep 1
  done
  value=\${value#'"'}
  value=\${value%'"'}
  case $value in
    '') refuse "BadAnnotation: the annotation $1 of this pod is empty: the node it runs on lacks what it is taken from" ;;
    *[!A-Za-z0-9$2]*) refuse "BadAnnotation: the annotation $1 of this pod has characters that do not belong there" ;;
  esac
}

`;

/** For other scripts that wait for what their pod is told. */
export const TOLD_POD = `${SAY}${READ_KEY}${WAIT_FOR_ANNOTATION}`;

/** `start.sh` in the ConfigMap of every node. */
export const START_SCRIPT = `#!/bin/sh
# Starts one node of a Kafka cluster: completes its configuration, looks at its disks, formats what may be formatted,
# and becomes Kafka.
set -u
set -f
umask 077
export LC_ALL=C
# The first process of a container ignores signals that it has not asked for.
trap 'exit 143' TERM INT

config=${NODE_PATHS.config}
annotations=${NODE_PATHS.pod}/annotations
properties=${NODE_PATHS.properties}
newline='
'

${SAY}${READ_KEY}# Whether the line $2 is in the file $1.
has_line() {
  while IFS= read -r line || [ -n "$line" ]; do
    if [ "$line" = "$2" ]; then return 0; fi
  done < "$1"
  return 1
}

${WAIT_FOR_ANNOTATION}rack=
if [ -n "\${ISTHMUS_RACK_ANNOTATION-}" ]; then
  wait_for_annotation "$ISTHMUS_RACK_ANNOTATION" '._-'
  rack=$value
fi
address=@node-address@
if [ -n "\${ISTHMUS_ADDRESS_ANNOTATION-}" ]; then
  wait_for_annotation "$ISTHMUS_ADDRESS_ANNOTATION" '.:-'
  address=$value
  case $address in *:*) address="[$address]" ;; esac # IPv6
fi

# Writes the configuration with the token replaced.
complete() {
  while IFS= read -r line || [ -n "$line" ]; do
    done_part=
    while :; do
      case $line in
        *@node-address@*) ;;
        *) break ;;
      esac
      done_part=$done_part\${line%%@node-address@*}$address
      line=\${line#*@node-address@}
    done
    printf '%s\\n' "$done_part$line"
  done < "$config/server.config"
  if [ -n "$rack" ]; then printf '\\nbroker.rack=%s\\n' "$rack"; fi
}
complete > "$properties" || refuse "BadConfiguration: $properties cannot be made of server.config"

read_key "$properties" node.id
node=$value
read_key "$properties" log.dirs
dirs=$value
read_key "$properties" metadata.log.dir
case ,$dirs, in
  *",$value,"*) ;;
  *) dirs=$dirs\${value:+,$value} ;;
esac
if [ -z "$node" ] || [ -z "$dirs" ]; then refuse "BadConfiguration: server.config has no node.id or no log.dirs"; fi
cluster=
release=
IFS= read -r cluster < "$config/cluster.id" || [ -n "$cluster" ] || refuse "BadConfiguration: cluster.id is empty"
IFS= read -r release < "$config/metadata.version" || [ -n "$release" ] ||
  refuse "BadConfiguration: metadata.version is empty"

# Looks at the log directory $1: what is on the disk must be this node's, and an empty one must be meant to be empty.
look_at() {
  if [ -e "$1/meta.properties" ]; then
    read_key "$1/meta.properties" cluster.id
    if [ "$value" != "$cluster" ]; then
      refuse "WrongDisk: $1 belongs to the Kafka cluster \${value:-(none)}, not to $cluster; give this node its own volume back"
    fi
    read_key "$1/meta.properties" node.id
    if [ "$value" != "$node" ]; then
      refuse "WrongDisk: $1 belongs to node \${value:-(none)}, not to node $node; give this node its own volume back"
    fi
  elif has_line "$config/format" "$1"; then
    to_format=$to_format$1$newline
  else
    refuse "DiskLost: $1 has no data and may not be formatted; give this node its volume back, or, if its data is lost for good, annotate this pod with strimzi.io/delete-pod-and-pvc=true"
  fi
}

# All are looked at before any is formatted.
to_format=
IFS=,
for dir in $dirs; do look_at "$dir"; done
unset IFS

logging=
if [ -e "$config/log4j2.properties" ]; then logging=-Dlog4j2.configurationFile=$config/log4j2.properties; fi
class_path="/opt/kafka/libs/*\${ISTHMUS_CLASS_PATH:+:$ISTHMUS_CLASS_PATH}"

# Of a controller whose quorum is in its log: what that begins with.
quorum=
if [ -r "$config/quorum" ]; then IFS= read -r quorum < "$config/quorum" || :; fi

if [ -n "$to_format" ]; then
  say "Formatting \${to_format%"$newline"}"
  # With "=", because an id may begin with a dash. What is formatted already is left alone (-g).
  java -Xmx256m $logging -cp "$class_path" kafka.tools.StorageTool \\
    format "-t=$cluster" "-r=$release" "-c=$properties" \${quorum:+"$quorum"} -g >&2 ||
    refuse "FormatFailed: the storage of this node cannot be formatted; its log says why"
fi

# Peers come back at other addresses: names are not remembered for half a minute, as is Java's way. No collector is named, so that
# KAFKA_JVM_OPTS may name one.
exec java \${KAFKA_HEAP_OPTS:--XX:MaxRAMPercentage=50} \\
  -XX:MaxGCPauseMillis=20 -XX:InitiatingHeapOccupancyPercent=35 -XX:+ExplicitGCInvokesConcurrent \\
  -XX:+ExitOnOutOfMemoryError -Dsun.net.inetaddr.ttl=5 \\
  $logging \${KAFKA_JVM_OPTS-} -cp "$class_path" kafka.Kafka "$properties"
`;
