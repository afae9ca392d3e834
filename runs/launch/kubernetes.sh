#!/bin/sh
# Runs the trainer once as a Job on Kubernetes: kubernetes.sh LIFE PROGRAM. Ends with the Job, and deletes it.
set -eu
life=$1
program=$2
job=prove-trainer

finish() {
  # Waits for the Job's pods, which use the GPUs.
  kubectl delete job "$job" --ignore-not-found --cascade=foreground --wait=true
}
trap finish EXIT
trap 'exit 143' INT TERM

# Deletes the Job of an earlier start.
finish
kubectl apply --filename - <<MANIFEST
apiVersion: v1
kind: Service
metadata: { name: $job }
spec:
  clusterIP: None
  # The pods must find each other before they are ready.
  publishNotReadyAddresses: true
  selector: { app: $job }
---
apiVersion: batch/v1
kind: Job
metadata:
  name: $job
  labels: { prove-life: "$life" }
spec:
  completionMode: Indexed
  completions: 2
  parallelism: 2
  # When a pod is lost, the coordinator restarts all of them.
  backoffLimit: 0
  template:
    metadata:
      labels: { app: $job }
    spec:
      subdomain: $job
      restartPolicy: Never
      containers:
        - name: trainer
          image: ${PROVE_TRAINER_IMAGE:?an image with the packages of coordinator/trainer/requirements.txt}
          command: [sh, -c]
          args:
            - |
              exec $program
          resources: { limits: { nvidia.com/gpu: 8 } }
          volumeMounts: [{ name: run, mountPath: ${PROVE_RUN_FOLDER:?where the coordinator has the run} }]
      volumes:
        - name: run
          # Pods on several machines write to this volume.
          persistentVolumeClaim: { claimName: ${PROVE_RUN_CLAIM:-prove-run} }
MANIFEST

until kubectl get job "$job" --output 'jsonpath={.status.conditions[*].type}' | grep -qE 'Failed|Complete'; do
  sleep 5
done
kubectl logs --selector "app=$job" --tail 20 --prefix
exit 1
