; A household: one agent, one room, receptacles that things lie in or on.
;
; This is what can happen in a game of the ALFWorld benchmark, stated once for the games that this package makes itself.
; tests/envs/alfworld/test_rules.py holds it against the rules inside the benchmark's own game files, where there are any.
;
; Every fact is about identifiers (mug_bar_...); the names that a player reads are made from them by the engine.

(define (domain alfred)

  (:requirements :adl :typing)

  (:types
    agent
    location     ; a spot to stand on, with a direction to look in; several receptacles can be within reach of one
    receptacle
    object       ; anything else: what can be carried, lamps, and scenery
    rtype        ; a kind of receptacle: drawertype
    otype        ; a kind of object: mugtype
  )

  (:predicates
    ; the room, which never changes
    (receptacleAtLocation ?r - receptacle ?l - location)
    (receptacleType ?r - receptacle ?t - rtype)
    (openable ?r - receptacle)
    (objectType ?o - object ?t - otype)
    (canContain ?rt - rtype ?ot - otype)
    (pickupable ?o - object)
    (cleanable ?o - object)
    (heatable ?o - object)
    (coolable ?o - object)
    (sliceable ?o - object)
    (toggleable ?o - object)
    (isReceptacleObject ?o - object)                             ; a mug, a box: things can lie in it, but only
    (inReceptacleObject ?inner - object ?outer - object)         ; those that did so from the start

    ; the agent
    (atLocation ?a - agent ?l - location)
    (holds ?a - agent ?o - object)
    (holdsAny ?a - agent)

    ; the things
    (opened ?r - receptacle)
    (inReceptacle ?o - object ?r - receptacle)
    (objectAtLocation ?o - object ?l - location)
    (isClean ?o - object)
    (isHot ?o - object)
    (isCool ?o - object)
    (isSliced ?o - object)
    (isOn ?o - object)
    (isToggled ?o - object)                                      ; was switched at least once, and stays so

    ; written down by the actions that only look, read by nothing
    (checked ?x - object)
  )

  ; ---- looking: changes nothing that anything reads

  (:action look
    :parameters (?a - agent ?l - location)
    :precondition (atLocation ?a ?l)
    :effect (checked ?l))

  (:action inventory
    :parameters (?a - agent)
    :precondition ()
    :effect (checked ?a))

  (:action help
    :parameters (?a - agent)
    :precondition ()
    :effect (checked ?a))

  (:action examineReceptacle
    :parameters (?a - agent ?r - receptacle)
    :precondition (exists (?l - location) (and (atLocation ?a ?l) (receptacleAtLocation ?r ?l)))
    :effect (checked ?r))

  ; Only what is held can be examined. The benchmark's rule has a second alternative, for things within reach, which its
  ; planner never finds true: a comma behind a type's name there makes it another type, of which there is nothing.
  (:action examineObject
    :parameters (?a - agent ?o - object)
    :precondition (holds ?a ?o)
    :effect (checked ?o))

  ; ---- moving, opening, carrying

  (:action GotoLocation
    :parameters (?a - agent ?lStart - location ?lEnd - location ?r - receptacle)
    :precondition (and (atLocation ?a ?lStart) (receptacleAtLocation ?r ?lEnd))
    :effect (and (not (atLocation ?a ?lStart)) (atLocation ?a ?lEnd)))

  (:action OpenObject
    :parameters (?a - agent ?l - location ?r - receptacle)
    :precondition (and (atLocation ?a ?l) (receptacleAtLocation ?r ?l) (openable ?r) (not (opened ?r)))
    :effect (and (opened ?r) (checked ?r)))

  (:action CloseObject
    :parameters (?a - agent ?l - location ?r - receptacle)
    :precondition (and (atLocation ?a ?l) (receptacleAtLocation ?r ?l) (openable ?r) (opened ?r))
    :effect (not (opened ?r)))

  ; One thing at a time, and nothing out of a closed receptacle ...
  (:action PickupObject
    :parameters (?a - agent ?l - location ?o - object ?r - receptacle)
    :precondition (and
      (atLocation ?a ?l) (receptacleAtLocation ?r ?l)
      (or (not (openable ?r)) (opened ?r))
      (inReceptacle ?o ?r) (pickupable ?o)
      (not (holdsAny ?a)))
    :effect (and
      (holds ?a ?o) (holdsAny ?a)
      (not (inReceptacle ?o ?r)) (not (objectAtLocation ?o ?l))))

  ; ... nor into one, and only where a thing of this kind may lie; receptacles are never full.
  (:action PutObject
    :parameters (?a - agent ?l - location ?o - object ?r - receptacle ?ot - otype ?rt - rtype)
    :precondition (and
      (atLocation ?a ?l) (receptacleAtLocation ?r ?l)
      (or (not (openable ?r)) (opened ?r))
      (holds ?a ?o)
      (objectType ?o ?ot) (receptacleType ?r ?rt) (canContain ?rt ?ot))
    :effect (and
      (inReceptacle ?o ?r) (objectAtLocation ?o ?l)
      (not (holds ?a ?o)) (not (holdsAny ?a))))

  ; ---- changing what is held; the appliance does it, open or closed

  (:action CleanObject
    :parameters (?a - agent ?l - location ?r - receptacle ?o - object)
    :precondition (and
      (atLocation ?a ?l) (receptacleAtLocation ?r ?l)
      (or (receptacleType ?r SinkType) (receptacleType ?r SinkBasinType))
      (holds ?a ?o) (cleanable ?o))
    :effect (isClean ?o))

  (:action HeatObject
    :parameters (?a - agent ?l - location ?r - receptacle ?o - object)
    :precondition (and
      (atLocation ?a ?l) (receptacleAtLocation ?r ?l) (receptacleType ?r MicrowaveType)
      (holds ?a ?o) (heatable ?o))
    :effect (and (isHot ?o) (not (isCool ?o))))

  (:action CoolObject
    :parameters (?a - agent ?l - location ?r - receptacle ?o - object)
    :precondition (and
      (atLocation ?a ?l) (receptacleAtLocation ?r ?l) (receptacleType ?r FridgeType)
      (holds ?a ?o) (coolable ?o))
    :effect (and (isCool ?o) (not (isHot ?o))))

  ; ---- using what is within reach

  (:action ToggleObject
    :parameters (?a - agent ?l - location ?o - object ?r - receptacle)
    :precondition (and (atLocation ?a ?l) (receptacleAtLocation ?r ?l) (inReceptacle ?o ?r) (toggleable ?o))
    :effect (and
      (when (isOn ?o) (not (isOn ?o)))
      (when (not (isOn ?o)) (isOn ?o))
      (isToggled ?o)))

  (:action SliceObject
    :parameters (?a - agent ?l - location ?co - object ?ko - object)
    :precondition (and
      (atLocation ?a ?l) (objectAtLocation ?co ?l) (sliceable ?co)
      (holds ?a ?ko)
      (or (objectType ?ko KnifeType) (objectType ?ko ButterKnifeType)))
    :effect (isSliced ?co))
)
